// Many seeds of one scenario: what the engine answers about repeated values, and how it is written. Reports have the same intervals.
import WORDS from "../generated/words.json";
import type { Engine } from "../engine/engine";
import type { Line } from "./picture";

/** What values a number can have: 0 to 1, 1/n to 1 of so many flows, 0 or more, any. */
export type Kind = { kind: "share" | "amount" | "number" } | { kind: "index"; flows: number };
/** Returns what values a number can have in all of these runs: an index begins at 1/n of the run with most flows. */
export function within(kinds: Kind[]): Kind {
  const flows = Math.max(0, ...kinds.map((one) => (one.kind === "index" ? one.flows : 0)));
  return flows ? { kind: "index", flows } : (kinds[0] ?? { kind: "number" });
}

/** Values of a number, a row for each place; `less` is taken away from them, pair by pair. `power` asks what so many pairs can see. */
export type Sample = { of: Kind; rows: ArrayLike<number>[]; less?: ArrayLike<number>[]; power?: boolean };
export type Interval = {
  n: number;
  mean: number;
  low: number;
  high: number;
  least: number;
  most: number;
  /** From the least to the largest value, over the mean. */
  spread: number;
  /** The interval leaves out 0. That of equal values claims nothing. */
  clear: boolean;
  /** The smallest difference that a paired t test finds with a power of 80 %. */
  seen: number;
};
const COLUMNS = 9;

/** Returns a request for the intervals of samples: its parameters, and the values as bytes. */
export function packed(samples: Sample[]): { params: { samples: object[] }; payload: ArrayBuffer } {
  const count = (sample: Sample) => sample.rows[0]?.length ?? 0;
  const params = { samples: samples.map((one) => ({ ...one.of, rows: one.rows.length, count: count(one), paired: Boolean(one.less), power: Boolean(one.power) })) };
  const numbers = new Float64Array(samples.reduce((sum, one) => sum + one.rows.length * count(one) * (one.less ? 2 : 1), 0));
  let place = 0;
  for (const { rows, less } of samples)
    rows.forEach((row, k) => {
      for (const own of less ? [row, less[k]!] : [row]) {
        numbers.set(own, place);
        place += own.length;
      }
    });
  return { params, payload: numbers.buffer };
}

/** Asks the engine for the mean and the interval of each row of each sample. */
export async function intervals(engine: Engine, samples: Sample[]): Promise<Interval[][]> {
  if (!samples.length) return [];
  const { params, payload } = packed(samples);
  const { head, body } = await engine.request("intervals", params, { payload });
  const numbers = new Float64Array(body, head.offset as number, (head.rows as number) * COLUMNS);
  let place = 0;
  const row = (): Interval => {
    const [n, mean, low, high, least, most, spread, clear, seen] = numbers.subarray(place, (place += COLUMNS)) as unknown as number[];
    return { n: n!, mean: mean!, low: low!, high: high!, least: least!, most: most!, spread: spread!, clear: clear === 1, seen: seen! };
  };
  return samples.map((sample) => sample.rows.map(row));
}

type Ends = Pick<Interval, "mean" | "low" | "high">;

/** Returns what stands beside a mean, `size` writes a width: `± half`, or the bounds of an interval that ends where its quantity does; empty without a spread. */
export function around({ mean, low, high }: Ends, write: (v: number) => string, size = write): string {
  if (!(high > low)) return "";
  const whole = Math.abs(high - mean - (mean - low)) <= 1e-9 * (high - low);
  return whole ? `± ${size((high - low) / 2)}` : `${write(low)} to ${write(high)}`;
}

/** Returns a mean with its interval: `3 ± 1`, or `0.9 (0.58 to 1)` where the interval is cut off. */
export function written(found: Ends, write: (v: number) => string, size = write): string {
  if (Number.isNaN(found.mean)) return "–";
  const beside = around(found, write, size);
  return beside.startsWith("±") || !beside ? `${write(found.mean)} ${beside}`.trim() : `${write(found.mean)} (${beside})`;
}

/** Returns what must be said of repetitions that are all alike, or nearly so while packets are dropped; else nothing. */
export function warning(found: Interval[], drops: number): string {
  const several = found.filter((one) => one.n > 1);
  if (!several.length) return "";
  if (several.every((one) => !(one.high > one.low))) return WORDS.alike;
  const near = several.every((one) => Number.isNaN(one.spread) || one.spread < WORDS.nearly_alike);
  return near && drops > 0 ? WORDS.nearly.replace("{which}", "this scenario") : "";
}

/** Returns what so many repetitions can see; nothing where that is no sensible difference. */
export function power(repetitions: number, seen: number, reference: number, title: string, of: Kind, write: (v: number) => string): string {
  if (!(seen > 0) || !Number.isFinite(seen) || (of.kind !== "amount" && seen >= 1)) return "";
  const relative = of.kind === "amount" && seen < Math.abs(reference);
  const difference = relative ? `${Number((100 * seen / Math.abs(reference)).toPrecision(2))} %` : write(seen);
  const filled: Record<string, string> = { repetitions: String(repetitions), difference, title, what: "comparisons" };
  return WORDS.power.replace(/\{(\w+)\}/g, (_, key: string) => filled[key] ?? "");
}

/** Returns the mean of a line in each of `count` equal spans of an interval; a span without a sample has the value before it. */
export function onGrid(line: Pick<Line, "t" | "y">, from_ns: number, to_ns: number, count: number): Float64Array {
  const sums = new Float64Array(count);
  const seen = new Uint32Array(count);
  for (let i = 0; i < line.t.length; i++) {
    const at = Math.floor(((line.t[i]! - from_ns) / (to_ns - from_ns)) * count);
    const v = line.y[i]!;
    if (at < 0 || at > count || v !== v) continue;
    const span = Math.min(at, count - 1);
    sums[span]! += v;
    seen[span]! += 1;
  }
  let last = NaN;
  for (let k = 0; k < count; k++) {
    if (seen[k]) last = sums[k]! / seen[k]!;
    sums[k] = last;
  }
  return sums;
}

export type Band = { mean: Float64Array; low: Float64Array; high: Float64Array };

/** Returns the values of several runs by span of the grid: a row for each span. */
export function bySpan(runs: Float64Array[]): Float64Array[] {
  return Array.from({ length: runs[0]?.length ?? 0 }, (_, k) => Float64Array.from(runs, (run) => run[k]!));
}

/** Returns mean and interval of each span as a band; of one run it is a line. */
export function bandOf(found: Interval[]): Band {
  const known = (v: number, mean: number) => (v === v ? v : mean);
  return {
    mean: Float64Array.from(found, (one) => one.mean),
    low: Float64Array.from(found, (one) => known(one.low, one.mean)),
    high: Float64Array.from(found, (one) => known(one.high, one.mean)),
  };
}
