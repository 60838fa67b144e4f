// Which controls a scenario gets: templates by path, filled in with what its text says.
import { parse, type Quantity } from "./quantity";

export type Template = {
  path: string;
  title: string;
  unit: string;
  kind: "quantity" | "number" | "choice" | "flag" | "count" | "text";
  low: number | null;
  high: number | null;
  scale: "linear" | "log";
  choices: string[] | null;
  group: string;
  default?: string | null;
  when?: { path: string; is: string | string[] } | null;
};

export type Control = Template & {
  /** The path with numbers in its brackets. */
  at: string;
  /** Of which entry it is, such as the name of the traffic; empty if there is one only. */
  of: string;
  /** As the text has it, or as it is by default. */
  text: string;
  given: boolean;
};

type Values = unknown;

/** Returns the value at a path such as `traffic[1].start`, or undefined. */
export function at(values: Values, path: string): unknown {
  let here = values as Record<string, unknown> | undefined;
  for (const part of path.matchAll(/[^.[\]]+/g)) {
    if (here === null || typeof here !== "object") return undefined;
    here = (here as Record<string, unknown>)[part[0]] as Record<string, unknown> | undefined;
  }
  return here;
}

function indices(path: string, given: Record<string, string>): string[] {
  const brackets = path.indexOf("[]");
  if (brackets < 0) return [path];
  const head = path.slice(0, brackets);
  const numbers = new Set<number>();
  for (const key of Object.keys(given)) {
    const found = key.startsWith(head + "[") ? /^\[(\d+)\]/.exec(key.slice(head.length)) : null;
    if (found) numbers.add(Number(found[1]));
  }
  return [...numbers].sort((a, b) => a - b).flatMap((n) => indices(`${head}[${n}]${path.slice(brackets + 2)}`, given));
}

const parent = (path: string): string => path.replace(/(\.[^.[\]]+|\[\d+\])$/, "");
const text = (value: unknown): string | null =>
  value == null ? null : typeof value === "object" ? ((value as { kind?: string }).kind ?? null) : String(value);

function fits(template: Template, path: string, given: Record<string, string>, values: Values): boolean {
  const when = template.when;
  if (!when) return true;
  const of = indices(when.path, given).find((p) => !p.includes("[") || p.split("]")[0] === path.split("]")[0]) ?? when.path;
  const is = given[of] ?? given[`${of}.kind`] ?? text(at(values, of)) ?? "";
  return (Array.isArray(when.is) ? when.is : [when.is]).includes(is);
}

/** Returns the controls for a scenario, in the order of the templates. */
export function controls(templates: Template[], given: Record<string, string>, values: Values): Control[] {
  const out: Control[] = [];
  const keys = Object.keys(given);
  const several = (keys.filter((key) => /^traffic\[\d+\]\.name$/.test(key)).length || indices("traffic[].kind", given).length) > 1;
  for (const template of templates) {
    for (const path of indices(template.path, given)) {
      const said = given[path] ?? given[`${path}.kind`];
      const above = parent(path);
      const there = above === path || keys.some((key) => key.startsWith(above + ".") || key === above) || above === "tcp";
      if (said === undefined && !there) continue;
      if (!fits(template, path, given, values)) continue;
      const value = said ?? text(at(values, path)) ?? template.default ?? null;
      if (value === null && template.kind !== "text" && template.kind !== "choice") continue;
      const index = /^(\w+)\[(\d+)\]/.exec(path);
      const of = index ? (given[`${index[1]}[${index[2]}].name`] ?? (several || index[1] !== "traffic" ? `${index[1]} ${index[2]}` : "")) : "";
      out.push({ ...template, at: path, of: index && !several && index[1] === "traffic" ? "" : of, text: value ?? "", given: said !== undefined });
    }
  }
  return out;
}

export type Slider = { low: number; high: number; log: boolean; like: Quantity; value: number };

const RELATIVE: Record<string, [number, number]> = { bdp: [0.05, 20], packets: [1, 10_000] };
const BUFFER: [number, number] = [3000, 64e6];

/** Returns what a slider of a control needs, or null if the value has no place on one (a spread, "none"). */
export function slider(control: Control): Slider | null {
  const like = parse(control.text);
  if (!like || !["quantity", "number", "count"].includes(control.kind)) return null;
  const range = RELATIVE[like.kind] ?? (like.kind === "size" && control.unit === "bdp" ? BUFFER : undefined);
  let low = range ? range[0] : (control.low ?? (control.kind === "count" ? 1 : 0));
  let high = range ? range[1] : (control.high ?? Math.max(2 * like.value, 1));
  if (like.value < low) low = like.value;
  if (like.value > high) high = like.value;
  const log = (range !== undefined || control.scale === "log") && low > 0;
  return { low, high, log, like, value: like.value };
}

/** Returns where a value stands on a slider, 0 to 1. */
export function position(s: Slider, value: number): number {
  const share = s.log ? Math.log(value / s.low) / Math.log(s.high / s.low) : (value - s.low) / (s.high - s.low);
  return Math.min(1, Math.max(0, share));
}

/** Returns the value at a place of a slider: two significant digits, whole if it counts. */
export function valueAt(s: Slider, share: number, whole: boolean): number {
  if (share <= 0) return s.low;
  if (share >= 1) return s.high;
  const exact = s.log ? s.low * (s.high / s.low) ** share : s.low + share * (s.high - s.low);
  return whole ? Math.max(1, Math.round(exact)) : Number(exact.toPrecision(2));
}
