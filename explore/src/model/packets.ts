// The time-sequence graph of one flow: segments by kind, the line of ACKs, SACK blocks, the edge of the window.
import type { Stroke } from "../draw/plot";
import type { Engine, Head } from "../engine/engine";
import { variable } from "./colors";
import type { Range } from "./picture";

export type Packets = {
  kinds: string[];
  segments: { t: Float64Array; seq: Float64Array; end: Float64Array; acked: Float64Array; kind: Uint32Array };
  acks: { t: Float64Array; ack: Float64Array; edge: Float64Array };
  sacks: { t: Float64Array; left: Float64Array; right: Float64Array };
  truncated: boolean;
};

export const KINDS: Record<string, [words: string, variable: string]> = {
  first: ["sent for the first time", "--ink"],
  fast: ["retransmitted, recovery", "--s1"],
  rto: ["retransmitted after a timeout", "--bad"],
  tlp: ["tail loss probe", "--s3"],
  late: ["out of order", "--s5"],
};

/** Asks for the packets of a flow in an interval. */
export async function fetchPackets(engine: Engine, handle: number, flow: number, range: Range, signal: AbortSignal): Promise<Packets> {
  const { head, body } = await engine.request("packets", { handle, flow, ...range, limit: 8000 }, { signal });
  const of = (part: Head, key: string) => new Float64Array(body, part[key], part.count);
  const { segments, acks, sacks } = head as { segments: Head; acks: Head; sacks: Head };
  return {
    kinds: head.kinds,
    segments: {
      t: of(segments, "t"), seq: of(segments, "seq"), end: of(segments, "end"), acked: of(segments, "acked"),
      kind: new Uint32Array(body, segments.kind, segments.count),
    },
    acks: { t: of(acks, "t"), ack: of(acks, "ack"), edge: of(acks, "edge") },
    sacks: { t: of(sacks, "t"), left: of(sacks, "left"), right: of(sacks, "right") },
    truncated: Boolean(head.truncated),
  };
}

/** Returns a line that goes up in steps: it stays at each value until the next one comes. */
export function steps(t: Float64Array, y: Float64Array): { t: Float64Array; y: Float64Array } {
  const n = Math.max(0, 2 * t.length - 1);
  const out = { t: new Float64Array(n), y: new Float64Array(n) };
  for (let i = 0; i < t.length; i++) {
    out.t[2 * i] = t[i]!;
    out.y[2 * i] = y[i]!;
    if (i + 1 < t.length) {
      out.t[2 * i + 1] = t[i + 1]!;
      out.y[2 * i + 1] = y[i]!;
    }
  }
  return out;
}

/** Returns the range of sequence numbers that were sent. */
export function reach(p: Packets): { bottom: number; top: number } {
  let [bottom, top] = [Infinity, -Infinity];
  for (const v of p.segments.seq) if (v < bottom) bottom = v;
  for (const v of p.segments.end) if (v > top) top = v;
  for (const v of p.acks.ack) if (v < bottom) bottom = v;
  if (!(top > bottom)) return { bottom: 0, top: 1 };
  const room = 0.06 * (top - bottom);
  return { bottom: Math.max(0, bottom - room), top: top + room };
}

/** Returns the strokes of the graph. */
export function strokes(p: Packets): Stroke[] {
  const ack = steps(p.acks.t, p.acks.ack);
  const edge = steps(p.acks.t, p.acks.edge);
  const bars = (t: number[], low: number[], y: number[], color: string, alpha = 1): Stroke => ({
    t: Float64Array.from(t), y: Float64Array.from(y), low: Float64Array.from(low), color, width: 2, dash: [], alpha, role: "bars",
  });
  const out: Stroke[] = [
    { ...edge, color: variable("--muted"), width: 1, dash: [4, 3], alpha: 0.8, role: "line" },
    { ...ack, color: variable("--s2"), width: 1.3, dash: [], alpha: 1, role: "line" },
    bars([...p.sacks.t], [...p.sacks.left], [...p.sacks.right], variable("--s4"), 0.55),
  ];
  for (const [index, kind] of p.kinds.entries()) {
    const own: number[] = [];
    p.segments.kind.forEach((k, i) => k === index && own.push(i));
    const of = (a: Float64Array) => own.map((i) => a[i]!);
    out.push(bars(of(p.segments.t), of(p.segments.seq), of(p.segments.end), variable(KINDS[kind]?.[1] ?? "--ink")));
  }
  return out;
}
