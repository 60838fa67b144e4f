// A panel as an SVG file in the report's style: light, on white, text as text.
import { lookOf, variableOf } from "../model/colors";
import { round_steps, show } from "../model/quantity";
import { legend, type Entry } from "../model/legend";
import type { Flow } from "../model/panels";
import type { Line } from "../model/picture";
import { draw, type Pen, type Scene } from "./plot";

const [WIDTH, PLOT, LEFT, HEAD, RIGHT, BOTTOM] = [760, 192, 74, 34, 14, 34];
const [ROW, LETTER] = [17, 7];
const escape = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

class Paper implements Pen {
  strokeStyle: unknown = "";
  fillStyle: unknown = "";
  lineWidth = 1;
  globalAlpha = 1;
  lineJoin: unknown = "round";
  out: string[] = [];
  private path: string[] = [];
  private dash: number[] = [];
  private fresh = true;

  beginPath(): void {
    this.path = [];
    this.fresh = true;
  }
  moveTo(x: number, y: number): void {
    this.path.push(`M${x.toFixed(1)} ${y.toFixed(1)}`);
    this.fresh = false;
  }
  lineTo(x: number, y: number): void {
    if (this.fresh) return this.moveTo(x, y);
    this.path.push(`L${x.toFixed(1)} ${y.toFixed(1)}`);
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path.push(`M${x.toFixed(1)} ${y.toFixed(1)}h${w}v${h}h${-w}z`);
  }
  arc(x: number, y: number, r: number): void {
    this.path.push(`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`);
  }
  closePath(): void {
    this.path.push("Z");
  }
  setLineDash(dash: number[]): void {
    this.dash = dash;
  }
  stroke(): void {
    if (!this.path.length) return;
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.out.push(
      `<path d="${this.path.join("")}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-opacity="${this.globalAlpha}"${dash}/>`,
    );
  }
  fill(): void {
    if (this.path.length) this.out.push(`<path d="${this.path.join("")}" fill="${this.fillStyle}" fill-opacity="${this.globalAlpha}"/>`);
  }
}

/** Returns the colours of the light scheme, whichever the page shows. */
function light(): (name: string) => string {
  const before = document.documentElement.dataset.scheme;
  document.documentElement.dataset.scheme = "light";
  const style = getComputedStyle(document.documentElement);
  const found = new Map(
    ["--ink", "--muted", "--grid", "--bad", ...[0, 1, 2, 3, 4, 5].map((i) => `--s${i}`)].map((n) => [n, style.getPropertyValue(n).trim()]),
  );
  if (before === undefined) delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = before;
  return (name) => found.get(name) ?? "#888";
}

/** Returns the entries of a legend in rows, the first beside the title. */
function legendRows(entries: Entry[], title: string): Entry[][] {
  const rows: Entry[][] = [[]];
  let left = WIDTH - LEFT - RIGHT - (LETTER + 1) * title.length;
  for (const entry of entries) {
    const width = LETTER * entry.name.length + 16;
    if (width > left && (rows.length > 1 ? rows.at(-1)!.length : 1)) {
      rows.push([]);
      left = WIDTH - LEFT - RIGHT;
    }
    rows.at(-1)!.push(entry);
    left -= width;
  }
  return rows;
}

/** Returns the text of an SVG file with what a panel shows. */
export function svg(scene: Scene, title: string, lines: Line[], flows: Flow[]): string {
  const color = light();
  const { from_ns, to_ns, top, bottom } = scene;
  const rows = legendRows(legend(lines, flows).slice(0, 8), title);
  const TOP = HEAD + ROW * (rows.length - 1);
  const HEIGHT = TOP + PLOT + BOTTOM;
  const [w, h] = [WIDTH - LEFT - RIGHT, PLOT];
  const x = (t: number) => LEFT + ((t - from_ns) / (to_ns - from_ns)) * w;
  const y = (v: number) => TOP + ((top - v) / (top - bottom)) * h;
  const text = (px: number, py: number, words: string, anchor: string, fill: string) =>
    `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" text-anchor="${anchor}" fill="${fill}">${escape(words)}</text>`;
  const grid = round_steps(bottom, top, 4).map(
    (v) => `<path d="M${LEFT} ${y(v).toFixed(1)}h${w}" stroke="${color("--grid")}"/>` + text(LEFT - 8, y(v) + 4, show(v, scene.unit), "end", color("--muted")),
  );
  const ticks = round_steps(from_ns, to_ns, 8).map((t) => text(x(t), HEIGHT - BOTTOM + 18, show(t, "ns", 6), "middle", color("--muted")));
  const paper = new Paper();
  const main = lines.filter((l) => l.role !== "marks" && l.role !== "total");
  const strokes = lines.map((l) => ({
    t: l.t, y: l.y, alpha: main.length > 12 ? 0.5 : 1, dash: l.role === "second" ? [2, 4] : [...lookOf(l.paint)[1]],
    color: color(l.role === "marks" ? "--bad" : variableOf(l.paint)), width: l.role === "marks" ? 0.8 : 1.5,
    role: l.role === "marks" ? ("marks" as const) : ("line" as const),
  }));
  draw(paper, { ...scene, strokes }, x, y, 1, TOP);
  const names = rows.flatMap((row, i) => {
    let place = WIDTH - RIGHT;
    return [...row].reverse().map(({ name, color: own }) => {
      const out = text(place, 18 + ROW * i, name, "end", color(own ?? "--muted"));
      place -= LETTER * name.length + 16;
      return out;
    });
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
    `font-family="Inter, 'Segoe UI', 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif" font-size="12.5">` +
    `<rect width="100%" height="100%" fill="#fff"/>${text(LEFT, 18, title, "start", color("--ink"))}${names.join("")}${grid.join("")}${ticks.join("")}` +
    `<clipPath id="in"><rect x="${LEFT}" y="${TOP - 1}" width="${w}" height="${h + 2}"/></clipPath><g clip-path="url(#in)">${paper.out.join("")}</g></svg>\n`
  );
}
