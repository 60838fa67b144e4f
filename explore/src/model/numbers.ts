// The summary of a run as the few numbers that a person looks at first.
import type { Head } from "../engine/engine";
import { plain, show } from "./quantity";

export type Figure = { name: string; value: number; text: string; write: (v: number) => string };

/** Returns the numbers of a summary, those first that answer most questions. */
export function numbers(summary: Head): Figure[] {
  const out: Figure[] = [];
  const add = (name: string, value: unknown, text: (v: number) => string) => {
    if (typeof value === "number" && Number.isFinite(value)) out.push({ name, value, text: text(value), write: text });
  };
  const count = (v: number) => plain(v, Number.isInteger(v) ? 9 : 3);
  const neck = summary.bottleneck ?? {};
  add("goodput", summary.goodput_bps, (v) => show(v, "b/s"));
  add("utilisation", neck.utilisation, (v) => show(v, "%"));
  add("mean queue", neck.queue_mean_bytes, (v) => show(v, "B"));
  add("loss", neck.loss_rate ?? summary.loss_rate, (v) => show(v, "%"));
  if (summary.flows > 1) add("Jain's index", summary.jain, (v) => plain(v));
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
