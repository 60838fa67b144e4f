// A heat map: cells with a value, as sweeps, comparisons and kept experiments draw them.

export type HeatCell = {
  value: number | null;
  text: string;
  /** Small print below: half of an interval, how many variants. */
  fine?: string;
  label: string;
  title?: string;
  /** Why there is no value. */
  wrong?: string;
  wrongly?: string;
  open?: () => void;
};

/** Returns how deep each cell is coloured, in per cent: the least value least. */
export function shares(rows: HeatCell[][]): number[][] {
  const all = rows.flat().flatMap((c) => (c.value === null || Number.isNaN(c.value) ? [] : [c.value]));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return rows.map((row) => row.map(({ value: v }) => (v === null || Number.isNaN(v) ? 0 : high > low ? 6 + (44 * (v - low)) / (high - low) : 25)));
}
