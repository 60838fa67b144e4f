// The controls of a scenario, as the engine offers them, and how a slider of one of them moves.
import { parse, write, type Quantity } from "./quantity";

export type Control = {
  path: string;
  title: string;
  text: string;
  kind: "quantity" | "number" | "count" | "choice" | "flag" | "text";
  quantity: "" | "time" | "rate" | "size" | "count" | "limit";
  unit: "" | "s" | "bit/s" | "B" | "p" | "bdp";
  value: unknown;
  number: number | null;
  given: boolean;
  low: number | null;
  high: number | null;
  scale: "linear" | "log";
  choices: string[];
  pattern: string;
  group: string;
  main: boolean;
};

/** Returns a control with the fields that the engine leaves out when they are empty. */
export function complete(control: Partial<Control> & Pick<Control, "path" | "title" | "kind" | "group">): Control {
  return {
    text: "", quantity: "", unit: "", value: null, number: null, given: false, low: null, high: null, scale: "linear", choices: [], pattern: "",
    main: false, ...control,
  };
}

/** Counts of the hosts at both ends of a template. Several at both ends need `pairing`, which says who talks to whom. */
const OTHER_END: Record<string, string> = { "template.clients": "template.servers", "template.servers": "template.clients" };

/** Returns whether a slider of this count would only lead to scenarios without a meaning. */
function unpaired(control: Control, all: Control[], given: Record<string, unknown>): boolean {
  const other = all.find((c) => c.path === OTHER_END[control.path]);
  return (other?.number ?? 1) > 1 && !Object.keys(given).some((path) => /^traffic\[\d+\]\.pairing$/.test(path));
}

/** Returns the controls that fit: no start after the end of the run, no count at both ends without a pairing. */
export function fitting(all: Control[], given: Record<string, unknown>, duration_s: number): Control[] {
  return all.flatMap((control) => {
    if (unpaired(control, all, given)) return [{ ...control, main: false }];
    if (!/(^|\.)(start|stop|warmup)$/.test(control.path) || control.high === null) return [control];
    return [{ ...control, high: Math.min(control.high, duration_s) }];
  });
}

/** Returns the entries of traffic that have a congestion control. */
export function entries(all: Control[], given: Record<string, unknown>): { path: string; name: string }[] {
  return all.flatMap((control) => {
    const found = /^(traffic\[\d+\])\.congestion_control\.kind$/.exec(control.path);
    if (!found) return [];
    return [{ path: found[1]!, name: heading(found[1]!, given).replace(/^traffic · /, "") }];
  });
}

/** Returns the value of a control as a person reads and types it. */
export function wording(control: Control): string {
  if (control.pattern && control.number !== null) return String(control.number);
  const value = control.value;
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? toml(value) : String(value);
}

/** Returns a value as TOML writes it in one line. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{ ${Object.entries(value).map(([key, inner]) => `${key} = ${toml(inner)}`).join(", ")} }`;
  return JSON.stringify(value);
}

/** Returns the value for the text of a scenario, of what a person has typed into a control. */
export function typed(control: Control, text: string): string {
  if (!control.pattern || Number.isNaN(Number(text)) || text.trim() === "") return text;
  return Number(text) === 0 ? "none" : control.pattern.replace("#", String(Number(text)));
}

const bare = (text: unknown) => String(text ?? "").replace(/[[\]"]/g, "").replace(/\s*,\s*/g, " – ");

/** Returns the heading of a group of controls. `given` has values as the text writes them. */
export function heading(group: string, given: Record<string, unknown>): string {
  const entry = /^(\w+)\[(\d+)\]$/.exec(group);
  if (entry) return `${entry[1]} · ${bare(given[`${group}.name`] ?? given[`${group}.between`]) || entry[2]}`;
  if (group === "template") return `network · ${bare(given["template.kind"]) || "template"}`;
  if (group === "tcp") return "TCP";
  return group.replace(".", " · ");
}

export type Slider = { low: number; high: number; log: boolean; value: number; like: Quantity; whole: boolean };

const LIKE: Record<string, Quantity["kind"]> = { s: "time", "bit/s": "rate", B: "size", p: "packets", bdp: "bdp" };

/** Returns what a slider of a control needs, or null if its value has no place on one. */
export function slider(control: Control): Slider | null {
  const { number, low, high } = control;
  if (!["quantity", "number", "count"].includes(control.kind) || number === null || low === null || high === null || !(high > low)) return null;
  const written = typeof control.value === "string" ? parse(control.value) : null;
  const kind = LIKE[control.unit] ?? "number";
  const like: Quantity = { value: number, kind, unit: written?.kind === kind ? written.unit : control.unit };
  return {
    low: Math.min(low, number), high: Math.max(high, number), log: control.scale === "log", value: number, like,
    whole: control.kind === "count" || control.unit === "p",
  };
}

/** The share of a logarithmic slider that stands for 0, where 0 is a value. */
const ZERO = 0.06;
const least = (s: Slider) => (s.low > 0 ? s.low : s.high / 1e4);

/** Returns where a value stands on a slider, 0 to 1. */
export function position(s: Slider, value: number): number {
  const share = (): number => {
    if (!s.log) return (value - s.low) / (s.high - s.low);
    if (value <= 0) return 0;
    const along = Math.log(value / least(s)) / Math.log(s.high / least(s));
    return s.low > 0 ? along : ZERO + (1 - ZERO) * along;
  };
  return Math.min(1, Math.max(0, share()));
}

/** Returns the value at a place of a slider: two significant digits, whole if it counts. */
export function valueAt(s: Slider, share: number): number {
  if (share <= 0) return s.low;
  if (share >= 1) return s.high;
  if (s.log && s.low <= 0 && share < ZERO) return 0;
  const along = s.log && s.low <= 0 ? (share - ZERO) / (1 - ZERO) : share;
  const exact = s.log ? least(s) * (s.high / least(s)) ** along : s.low + share * (s.high - s.low);
  return s.whole ? Math.round(exact) : Number(exact.toPrecision(2));
}

/** Returns the text of a slider's value. */
export function text(s: Slider, value: number): string {
  return write(value, s.like);
}
