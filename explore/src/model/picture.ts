// A picture: what the panels show of one run, as typed arrays.
import type { Engine, Head } from "../engine/engine";
import { wanted, type Flow, type Port, type Topology, type Wanted } from "./panels";

export type Line = Wanted & { t: Float64Array; y: Float64Array; unit: string; thinned: boolean };
export type Range = { from_ns: number; to_ns: number };
export type Picture = {
  handle: number;
  text: string;
  seed: number;
  /** The whole of it, and the part that the arrays cover. */
  whole: Range;
  shown: Range;
  asked: Wanted[];
  warmup_ns: number;
  flows: Flow[];
  ports: Port[];
  topology: Topology;
  lines: Line[];
  summary: Head | null;
  wall_s: number;
  /** Drawn from kept tables, not simulated now. */
  kept?: boolean;
  /** Below 1 while the run is under way. */
  share: number;
};

export const EMPTY = new Float64Array(0);

/** Returns how many buckets a line may have, so that many lines together stay light. */
export function budget(lines: number, width: number): number {
  return Math.max(120, Math.min(Math.ceil(width), Math.floor(60_000 / Math.max(1, lines))));
}

/** Asks the engine for lines in an interval. */
export async function fetchLines(engine: Engine, handle: number, asked: Wanted[], range: Range, points: number, signal?: AbortSignal): Promise<Line[]> {
  if (asked.length === 0) return [];
  const params = { handle, lines: asked.map((w) => w.ask), ...range, points };
  const { head, body } = await engine.request("series", params, signal ? { signal } : {});
  return asLines(asked, head, body);
}

/** Returns the lines that a reply has, beside what each was asked for. */
export function asLines(asked: Wanted[], head: Head, body: ArrayBuffer): Line[] {
  const lines = head.lines as { offset_t: number; offset_y: number; count: number; unit: string; thinned: boolean }[];
  return lines.map((line, i) => {
    let t = line.count ? new Float64Array(body, line.offset_t, line.count) : EMPTY;
    let y = line.count ? new Float64Array(body, line.offset_y, line.count) : EMPTY;
    // An interval of a capture without a sample is no end of the line.
    if (asked[i]!.ask.table === "connection_samples" && y.some((v) => v !== v)) {
      t = t.filter((_, k) => y[k] === y[k]);
      y = y.filter((v) => v === v);
    }
    return { ...asked[i]!, t, y, unit: line.unit, thinned: line.thinned };
  });
}

export type Parts = { flows: Flow[]; ports: Port[]; topology: Topology; asked: Wanted[] };

/** Asks for flows, ports and network of a run, which say which lines there are. */
export async function fetchParts(engine: Engine, handle: number): Promise<Parts> {
  const [flows, ports, topology] = await Promise.all(["flows", "ports", "topology"].map((method) => engine.request(method, { handle })));
  const parts = { flows: flows!.head.value as Flow[], ports: ports!.head.value as Port[], topology: topology!.head as Topology };
  return { ...parts, asked: wanted(parts.flows, parts.ports, parts.topology) };
}

/** Returns the value of a line at a time: of the last sample at or before it; NaN before the first and well after the last. */
export function valueAtTime(line: { t: Float64Array; y: Float64Array }, at_ns: number): number {
  let low = 0;
  let high = line.t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.t[middle]! <= at_ns) low = middle + 1;
    else high = middle;
  }
  const last = line.t.length - 1;
  const gap = last > 0 ? (line.t[last]! - line.t[0]!) / last : Infinity;
  if (low === 0 || (low > last && at_ns - line.t[last]! > 2 * gap)) return NaN;
  return line.y[low - 1]!;
}
