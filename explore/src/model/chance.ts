// Many seeds of one scenario: means and their intervals, over time and of the summary.
import type { Line } from "./picture";

const Z = 1.959963984540054;
const FEW = [12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135];

/** Returns the 97.5 % quantile of Student's t with `df` degrees of freedom. */
export function t975(df: number): number {
  if (df <= FEW.length) return FEW[df - 1] ?? NaN;
  const [z3, z5, z7] = [Z ** 3, Z ** 5, Z ** 7];
  return Z + (z3 + Z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * Z) / (96 * df ** 2) + (3 * z7 + 19 * z5 + 17 * z3 - 15 * Z) / (384 * df ** 3);
}

export type Interval = { n: number; mean: number; half: number; low: number; high: number };

/** Returns the mean of values, half the width of its 95 % interval (t), the least and the greatest. NaN is left out. */
export function interval(values: number[]): Interval {
  const own = values.filter((v) => Number.isFinite(v));
  const n = own.length;
  const mean = own.reduce((a, b) => a + b, 0) / n;
  const spread = own.reduce((a, b) => a + (b - mean) ** 2, 0);
  const half = n > 1 ? t975(n - 1) * Math.sqrt(spread / (n - 1) / n) : NaN;
  return { n, mean, half, low: Math.min(...own), high: Math.max(...own) };
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

/** Returns mean and interval for each span of the grid. */
export function band(runs: Float64Array[], count: number): Band {
  const out = { mean: new Float64Array(count), low: new Float64Array(count), high: new Float64Array(count) };
  for (let k = 0; k < count; k++) {
    const found = interval(runs.map((r) => r[k]!));
    const half = Number.isFinite(found.half) ? found.half : 0;
    out.mean[k] = found.mean;
    out.low[k] = found.mean - half;
    out.high[k] = found.mean + half;
  }
  return out;
}
