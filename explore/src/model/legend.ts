// What the legend of a panel names: lines one by one, or the lines of many flows together.
import { lookOf, variableOf } from "./colors";
import { entryOf, type Flow } from "./panels";
import { valueAtTime, type Line } from "./picture";
import { show } from "./quantity";

export type Entry = {
  name: string;
  /** CSS variable of the colour; null if the lines have several. */
  color: string | null;
  stroke: "solid" | "dotted" | "dashed";
  lines: Line[];
  /** Some flows of the group are not drawn. */
  part: boolean;
};

/** Panels that draw more lines than this name them by traffic. */
const SEVERAL = 6;

function strokeOf(line: Line): Entry["stroke"] {
  const [first] = line.role === "second" ? [2] : lookOf(line.paint)[1];
  return first === undefined ? "solid" : first < 3 ? "dotted" : "dashed";
}

const ofGroup = (group: string, flows: Flow[]) => flows.filter((f) => entryOf(f) === group).length;

/** Returns how many lines there are and of what: `32 flows, one line each`, or `48 of 128 flows, ...` where only some are drawn. */
function counted(lines: Line[], group: string, flows: Flow[], each: "line" | "band"): string {
  const word = lines[0]!.ask.table === "connection_samples" ? "connections" : "flows";
  const all = ofGroup(group, flows);
  return `${all > lines.length ? `${lines.length} of ${all}` : lines.length} ${word}, one ${each} each`;
}

/** Returns the entries of a legend, in the order of the lines. Lines without a value are not drawn and have none. */
export function legend(lines: Line[], flows: Flow[], each: "line" | "band" = "line"): Entry[] {
  const drawn = lines.filter((l) => l.role !== "marks" && l.role !== "total" && (each === "line" || l.role === "main") && l.y.some((v) => v === v));
  const several = lines.filter((l) => l.role === "main").length > SEVERAL;
  const groups = new Map<string, Line[]>();
  for (const line of drawn) {
    const key = (several ? line.group : line.name) + (line.role === "second" ? " threshold" : "");
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups].map(([name, of]) => ({
    name: of.length > 1 ? `${name}: ${counted(of, of[0]!.group, flows, each)}` : several ? of[0]!.name + (of[0]!.role === "second" ? " threshold" : "") : name,
    color: new Set(of.map((l) => l.paint)).size > 1 ? null : variableOf(of[0]!.paint),
    stroke: strokeOf(of[0]!),
    lines: of,
    part: of.length > 1 && ofGroup(of[0]!.group, flows) > of.length,
  }));
}

/** Returns the value of an entry at a time. Of several lines it is their sum if `adds`, else their mean, and says which. */
export function valueOf(entry: Entry, at_ns: number, unit: string, adds: boolean): string {
  const values = entry.lines.map((l) => valueAtTime(l, at_ns)).filter((v) => v === v);
  const sum = values.reduce((a, b) => a + b, 0);
  const text = show(values.length ? (adds ? sum : sum / values.length) : NaN, unit);
  return entry.lines.length > 1 && values.length ? `${adds ? "sum" : "mean"}${entry.part ? ` of these ${values.length}` : ""} ${text}` : text;
}
