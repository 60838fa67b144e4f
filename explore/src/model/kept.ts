// A kept experiment: variants with their trials, and how they are laid out on axes. Nothing here asks the engine.
import { CONTROLS } from "../generated/palette";
import { lookOf } from "./colors";

/** `title`: the end of its path that says which one it is. */
export type Parameter = { name: string; title: string; values: string[]; numeric: boolean; unit: string };
export type Statistic = { name: string; title: string; unit: string };
export type Variant = {
  label: string;
  parameters: Record<string, string>;
  numbers: Record<string, number>;
  mean: number | null;
  low: number | null;
  high: number | null;
  count: number;
  runs: [number, number | null][];
};
export type Answer = {
  parameters: Parameter[];
  statistics: Statistic[];
  statistic: string;
  variants: Variant[];
  of: number;
  left_off: number;
  ended: boolean;
  done?: number;
  planned?: number;
};
export type Axes = { across: string; down: string; each: string; held: Record<string, string>; drawing: "map" | "lines" };
export type Cell = { x: string; y: string; variants: Variant[]; mean: number | null };

const varied = (all: Parameter[]) => all.filter((p) => p.values.length > 1);

/** Returns the axes to begin with. Two parameters with the same names, as pairs of congestion controls, make a matrix. */
export function axesOf(parameters: Parameter[], variants: number): Axes {
  const own = varied(parameters);
  const empty = { across: parameters[0]?.name ?? "", down: "", each: "", held: {}, drawing: "map" as const };
  if (!own.length) return empty;
  const [a, b] = own;
  if (a && b && own.length === 2 && !a.numeric && [...a.values].sort().join() === [...b.values].sort().join())
    return { ...empty, across: b.name, down: a.name };
  const order = [...own].sort((p, q) => Number(q.numeric) - Number(p.numeric) || q.values.length - p.values.length);
  const across = order[0]!;
  const rest = own.filter((p) => p !== across).sort((p, q) => p.values.length - q.values.length);
  const whole = own.reduce((product, p) => product * p.values.length, 1) === variants;
  const down = rest.filter((p) => p.values.length <= 40).at(-1);
  const each = rest.filter((p) => p !== down && p.values.length <= 12).at(-1);
  const held = rest.filter((p) => p !== down && p !== each).map((p) => [p.name, whole ? p.values[0]! : ""]);
  const map = !across.numeric || (down?.numeric === true && down.values.length > 4);
  return {
    across: across.name, down: whole ? (down?.name ?? "") : "", each: whole ? (each?.name ?? "") : "", held: Object.fromEntries(whole ? held : []),
    drawing: map ? "map" : "lines",
  };
}

/** Returns the variants that have the values which are held. */
export function heldTo(variants: Variant[], held: Record<string, string>): Variant[] {
  const asked = Object.entries(held).filter(([, value]) => value !== "");
  return variants.filter((v) => asked.every(([name, value]) => v.parameters[name] === value));
}

/** Returns the values of a parameter that some variant has, in the parameter's order; one empty value without a parameter. */
export function valuesOf(parameters: Parameter[], name: string, variants: Variant[]): string[] {
  const there = new Set(variants.map((v) => v.parameters[name] ?? ""));
  const known = parameters.find((p) => p.name === name)?.values ?? [];
  return name ? known.filter((value) => there.has(value)) : [""];
}

/** Returns rows of cells. A cell with several variants has the mean of their means. */
export function cells(variants: Variant[], parameters: Parameter[], across: string, down: string): Cell[][] {
  const [xs, ys] = [valuesOf(parameters, across, variants), valuesOf(parameters, down, variants)];
  const at = new Map<string, Variant[]>();
  for (const v of variants) {
    const key = JSON.stringify([v.parameters[across] ?? "", down ? (v.parameters[down] ?? "") : ""]);
    at.set(key, [...(at.get(key) ?? []), v]);
  }
  return ys.map((y) =>
    xs.map((x) => {
      const own = at.get(JSON.stringify([x, y])) ?? [];
      const means = own.flatMap((v) => (v.mean === null ? [] : [v.mean]));
      return { x, y, variants: own, mean: means.length ? means.reduce((p, q) => p + q, 0) / means.length : null };
    }),
  );
}

export type Dot = { x: number; variant: Variant };
export type Series = { name: string; color: string; dash: string; joined: boolean; dots: Dot[] };

/** Returns a series for each value of `down`, along the numbers of `across`; joined where each place has one variant. */
export function series(variants: Variant[], parameters: Parameter[], across: string, down: string): Series[] {
  return valuesOf(parameters, down, variants).flatMap((name, i) => {
    const own = variants.filter((v) => !down || v.parameters[down] === name);
    const dots = own
      .flatMap((variant) => (variant.mean === null || variant.numbers[across] === undefined ? [] : [{ x: variant.numbers[across], variant }]))
      .sort((p, q) => p.x - q.x);
    const [hue, dashes] = lookOf(name in CONTROLS ? name : `series ${i}`);
    const joined = new Set(dots.map((d) => d.x)).size === dots.length && dots.length <= 60;
    return dots.length ? [{ name, color: hue, dash: dashes.join(" "), joined, dots }] : [];
  });
}
