// The network at one moment: what each port has, where there is a sample of it. What was not sampled is not known.
import type { Engine } from "../engine/engine";
import type { Port, Wanted } from "./panels";
import { budget, fetchLines, valueAtTime, type Line, type Picture, type Range } from "./picture";

/** What a port has at a moment. A port without a sample there has no state. */
export type State = { use: number; queue: number; paused: boolean };
/** Lines of ports, and the longest queue of each of them. */
export type Sampled = { lines: Line[]; most: Map<number, number> };
/** The run that has samples of the ports, its ports, and why some have none. */
export type Probe = { handle: number; ports: Port[]; why: string };

const COLUMNS = ["utilisation", "queue_bytes", "paused_ns"] as const;
/** Ports of one request: the engine takes 512 lines. */
const PORTS_AT_ONCE = 160;
const POINTS = 2000;

/**
 * Returns where samples of the ports of a picture are: in its own run or, if some ports have none, in the same run once more, with samples of all
 * ports. That run must say at its end what the first one said.
 */
export async function probe(engine: Engine, picture: Picture, signal: AbortSignal): Promise<Probe> {
  const own = { handle: picture.handle, ports: picture.ports, why: "" };
  if (picture.ports.every((p) => p.sampled) || !picture.text) return own;
  try {
    const { head } = await engine.request("run", { text: picture.text, seed: picture.seed, record: { ports: "all" } }, { signal });
    const ports = (await engine.request("ports", { handle: head.handle })).head.value as Port[];
    if (JSON.stringify(head.summary) === JSON.stringify(picture.summary)) return { handle: head.handle, ports, why: "" };
    void engine.request("close", { handle: head.handle }).catch(() => undefined);
    return { ...own, why: "a run with samples of all ports is not the same run" };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ...own, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks for the samples of all ports in an interval. */
export async function fetchPorts(engine: Engine, { handle, ports }: Probe, range: Range): Promise<Sampled> {
  const asked = ports.filter((p) => p.sampled).map((p) =>
    COLUMNS.map((column): Wanted => ({
      panel: "queue", name: p.name, port: p.port, paint: column, group: column, role: "main",
      ask: { table: "port_samples", column, where: { port: p.port }, how: column === "paused_ns" ? "rate" : "value" },
    })),
  );
  const points = budget(COLUMNS.length * asked.length, POINTS);
  const parts: Line[] = [];
  for (let i = 0; i < asked.length; i += PORTS_AT_ONCE) parts.push(...(await fetchLines(engine, handle, asked.slice(i, i + PORTS_AT_ONCE).flat(), range, points)));
  const most = new Map(parts.filter((l) => l.paint === "queue_bytes").map((l) => [l.port!, l.y.reduce((a, b) => Math.max(a, b), 0)]));
  return { lines: parts, most };
}

/** Returns the state of each port that has a sample at a time. */
export function statesAt(lines: Line[], at_ns: number): Map<number, State> {
  const found = new Map<number, Map<string, number>>();
  for (const line of lines) {
    const own = found.get(line.port!) ?? new Map<string, number>();
    own.set(line.paint, valueAtTime(line, at_ns));
    found.set(line.port!, own);
  }
  const out = new Map<number, State>();
  for (const [port, values] of found) {
    const [use, queue, paused] = COLUMNS.map((column) => values.get(column) ?? NaN);
    if (use === use && queue === queue) out.set(port, { use: use!, queue: queue!, paused: paused! > 0 });
  }
  return out;
}

/** Returns the first time at which a port has a sample. */
export function firstSample(lines: Line[]): number {
  return lines.reduce((first, line) => (line.t.length ? Math.min(first, line.t[0]!) : first), Infinity);
}
