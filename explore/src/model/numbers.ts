// The summary of a run as the few numbers that a person looks at first.
import type { Head } from "../engine/engine";
import type { Kind } from "./chance";
import { plain, show } from "./quantity";

/** `of`: what values the number can have. `apart` writes a difference of two of them. */
export type Figure = { name: string; value: number; text: string; write: (v: number) => string; apart: (v: number) => string; of: Kind };

const AMOUNT: Kind = { kind: "amount" };
const SHARE: Kind = { kind: "share" };

/** Returns the numbers of a summary, those first that answer most questions. */
export function numbers(summary: Head): Figure[] {
  const out: Figure[] = [];
  const add = (name: string, value: unknown, write: (v: number) => string, of: Kind = AMOUNT) => {
    if (typeof value !== "number" || !Number.isFinite(value)) return;
    const apart = of === SHARE ? (v: number) => `${plain(100 * v)} percentage points` : write;
    out.push({ name, value, text: write(value), write, apart, of });
  };
  const count = (v: number) => plain(v, Number.isInteger(v) ? 9 : 3);
  const neck = summary.bottleneck ?? {};
  add("goodput", summary.goodput_bps, (v) => show(v, "b/s"));
  add("utilisation", neck.utilisation, (v) => show(v, "%"), SHARE);
  add("mean queue", neck.queue_mean_bytes, (v) => show(v, "B"));
  add("loss", neck.loss_rate ?? summary.loss_rate, (v) => show(v, "%"), SHARE);
  if (summary.flows > 1) add("Jain's index", summary.jain, (v) => plain(v), { kind: "index", flows: summary.flows });
  add("drops", summary.drops, count);
  add("timeouts", summary.timeouts, count);
  if (summary.marks) add("ECN marks", summary.marks, count);
  if (summary.pauses_sent) add("pauses", summary.pauses_sent, count);
  add("packets", summary.packets, count);
  add("connections", summary.connections, count);
  add("length", summary.span_ns, (v) => show(v, "ns"));
  add("99th percentile of completion", summary.fct?.p99_s ?? (summary.fct?.p99_ns ?? NaN) / 1e9, (v) => show(v, "s"));
  return out;
}
