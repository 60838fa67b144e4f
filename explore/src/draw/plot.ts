// A panel's plot: uPlot has the axes, the cursor and the selection; the lines are drawn straight from typed arrays.
import uPlot from "uplot";
import { variable } from "../model/colors";
import { show } from "../model/quantity";

export type Stroke = {
  t: Float64Array;
  y: Float64Array;
  /** Lower edge of a band or lower end of bars; `y` is then the upper one. */
  low?: Float64Array;
  color: string;
  width: number;
  dash: number[];
  alpha: number;
  role: "line" | "marks" | "dots" | "band" | "bars";
};
export type Scene = { strokes: Stroke[]; unit: string; from_ns: number; to_ns: number; warmup_ns: number; top: number; bottom: number };

export const GUTTER = 66;
export const RIGHT = 20;
const MARK = 7;

/** Room above the highest value. */
export const MARGIN = 1.06;
/** The run that is drawn has at least a third of the axis. */
const BEFORE = 3;

type Axis = { top: number; bottom: number };

/** Returns the ends of the axis of a run with a picture behind it. One that was kept to compare with is shown whole; the picture before is
 * cut off where it would make the run flat. */
export function scaled(now: Axis, before: Axis, kept: boolean): Axis {
  const [top, bottom] = [Math.max(now.top, before.top), Math.min(now.bottom, before.bottom)];
  return kept || top - bottom <= BEFORE * (now.top - now.bottom) ? { top, bottom } : now;
}

/** Returns the ends of the axis that shows these strokes: 0 is on it. */
export function ends(strokes: Stroke[], from_ns: number, to_ns: number): Axis {
  let [top, bottom] = [0, 0];
  for (const s of strokes) {
    if (s.role === "marks") continue;
    for (const [values, end] of [[s.y, 1], [s.low, 0]] as const) {
      if (!values) continue;
      for (let i = 0; i < values.length; i++) {
        const v = values[i]!;
        if (s.t[i]! < from_ns || s.t[i]! > to_ns) continue;
        if (end && v > top) top = v;
        if (v < bottom) bottom = v;
      }
    }
  }
  return { top: top > 0 ? top * MARGIN : bottom < 0 ? 0 : 1, bottom: bottom * MARGIN };
}

/** What a canvas and an SVG file are drawn with: the calls of a canvas that both have. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  "beginPath" | "moveTo" | "lineTo" | "stroke" | "fill" | "closePath" | "setLineDash" | "rect" | "arc"
> & { strokeStyle: unknown; fillStyle: unknown; lineWidth: number; globalAlpha: number; lineJoin: unknown };

/** Draws the strokes of a scene. `x` and `y` give places on the pen's paper, `ratio` its pixels for one of the page. */
export function draw(pen: Pen, scene: Scene, x: (t: number) => number, y: (v: number) => number, ratio: number, ceiling: number): void {
  pen.lineJoin = "round";
  for (const s of scene.strokes) {
    if (s.t.length === 0) continue;
    pen.globalAlpha = s.alpha;
    pen.strokeStyle = pen.fillStyle = s.color;
    pen.lineWidth = s.width * ratio;
    pen.setLineDash(s.dash.map((d) => d * ratio));
    if (s.role === "marks") {
      pen.beginPath();
      for (const t of s.t) {
        if (t < scene.from_ns || t > scene.to_ns) continue;
        pen.moveTo(x(t), ceiling);
        pen.lineTo(x(t), ceiling + MARK * ratio);
      }
      pen.stroke();
    } else if (s.role === "dots") {
      pen.beginPath();
      for (let i = 0; i < s.t.length; i++) pen.rect(x(s.t[i]!) - ratio, y(s.y[i]!) - ratio, 2 * ratio, 2 * ratio);
      pen.fill();
    } else if (s.role === "bars" && s.low) {
      pen.beginPath();
      for (let i = 0; i < s.t.length; i++) {
        if (s.t[i]! < scene.from_ns || s.t[i]! > scene.to_ns) continue;
        const [px, high] = [x(s.t[i]!), y(s.y[i]!)];
        pen.moveTo(px, high);
        pen.lineTo(px, Math.max(y(s.low[i]!), high + 2 * ratio));
      }
      pen.stroke();
    } else if (s.role === "band" && s.low) {
      pen.beginPath();
      for (let i = 0; i < s.t.length; i++) pen.lineTo(x(s.t[i]!), y(s.y[i]!));
      for (let i = s.t.length - 1; i >= 0; i--) pen.lineTo(x(s.t[i]!), y(s.low[i]!));
      pen.closePath();
      pen.fill();
    } else {
      pen.beginPath();
      let down = false;
      for (let i = 0; i < s.t.length; i++) {
        const v = s.y[i]!;
        if (v !== v) {
          down = false;
          continue;
        }
        const [px, py] = [x(s.t[i]!), y(v)];
        if (down) pen.lineTo(px, py);
        else pen.moveTo(px, py);
        down = true;
      }
      pen.stroke();
    }
  }
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}

export type Hand = {
  onCursor: (at_ns: number | null) => void;
  onZoom: (from_ns: number, to_ns: number) => void;
  onWhole: () => void;
};

const font = (px: number) => `${px}px Inter, "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "Liberation Sans", Arial, sans-serif`;

/** One plot in an element of the page. */
export class Plot {
  private readonly u: uPlot;
  private scene: Scene = { strokes: [], unit: "", from_ns: 0, to_ns: 1, warmup_ns: 0, top: 1, bottom: 0 };
  private silent = false;

  constructor(element: HTMLElement, width: number, height: number, axis: boolean, hand: Hand) {
    const axes: uPlot.Axis[] = [
      {
        show: true,
        size: axis ? 30 : 6,
        stroke: () => variable("--muted"),
        grid: { show: false },
        ticks: { show: axis, stroke: () => variable("--line"), width: 1, size: 4 },
        font: font(12),
        gap: 3,
        values: (_, splits) => (axis ? splits.map((v) => show(v, "ns", 6)) : splits.map(() => "")),
        space: 80,
      },
      {
        size: GUTTER,
        stroke: () => variable("--muted"),
        grid: { stroke: () => variable("--grid"), width: 1 },
        ticks: { show: false },
        font: font(12),
        gap: 6,
        space: 26,
        values: (_, splits) => splits.map((v) => show(v, this.scene.unit)),
      },
    ];
    const options: uPlot.Options = {
      width,
      height,
      padding: [8, RIGHT, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: "elephan" }, drag: { x: true, y: false, setScale: false }, y: false, points: { show: false } },
      scales: {
        x: { time: false, range: () => [this.scene.from_ns, this.scene.to_ns] },
        y: { range: () => [this.scene.bottom, this.scene.top] },
      },
      axes,
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: {
        draw: [(u) => this.paint(u)],
        setCursor: [
          (u) => {
            if (this.silent || !u.cursor.event) return;
            const left = u.cursor.left ?? -1;
            hand.onCursor(left < 0 ? null : u.posToVal(left, "x"));
          },
        ],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const [from, to] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            hand.onZoom(from, to);
          },
        ],
      },
    };
    this.u = new uPlot(options, [[0, 1], [0, 0]], element);
    this.u.over.addEventListener("dblclick", () => hand.onWhole());
    this.u.over.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
        event.preventDefault();
        const { from_ns, to_ns } = this.scene;
        const at = this.u.posToVal(event.offsetX, "x");
        if (event.shiftKey) {
          const by = ((event.deltaY || event.deltaX) / 800) * (to_ns - from_ns);
          hand.onZoom(from_ns + by, to_ns + by);
        } else {
          const factor = Math.exp(event.deltaY / 300);
          hand.onZoom(at - (at - from_ns) * factor, at + (to_ns - at) * factor);
        }
      },
      { passive: false },
    );
  }

  set(scene: Scene): void {
    this.scene = scene;
    this.u.setData([[scene.from_ns, scene.to_ns], [0, 0]], true);
  }

  /** Puts the cursor at a time, or takes it away; the other plots follow by themselves. */
  point(at_ns: number | null): void {
    this.silent = true;
    const left = at_ns === null ? -10 : this.u.valToPos(at_ns, "x");
    if (Math.abs((this.u.cursor.left ?? -10) - left) > 0.5) this.u.setCursor({ left, top: at_ns === null ? -10 : 10 }, false);
    this.silent = false;
  }

  size(width: number, height: number): void {
    if (width !== this.u.width || height !== this.u.height) this.u.setSize({ width, height });
  }

  /** Returns the canvas, which has the whole panel in pixels of the screen. */
  get canvas(): HTMLCanvasElement {
    return this.u.ctx.canvas;
  }

  redraw(): void {
    this.u.redraw(false, true);
  }

  destroy(): void {
    this.u.destroy();
  }

  private paint(u: uPlot): void {
    const { ctx, bbox } = u;
    const ratio = uPlot.pxRatio;
    const { from_ns, to_ns, top, bottom, warmup_ns } = this.scene;
    const x = (t: number) => bbox.left + ((t - from_ns) / (to_ns - from_ns)) * bbox.width;
    const y = (v: number) => bbox.top + ((top - v) / (top - bottom)) * bbox.height;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - ratio, bbox.width, bbox.height + 2 * ratio);
    ctx.clip();
    if (warmup_ns > from_ns) {
      ctx.fillStyle = variable("--raised");
      ctx.fillRect(bbox.left, bbox.top, Math.min(bbox.width, x(warmup_ns) - bbox.left), bbox.height);
    }
    draw(ctx, this.scene, x, y, ratio, bbox.top);
    ctx.restore();
    ctx.strokeStyle = variable("--line");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y(Math.max(0, bottom)));
    ctx.lineTo(bbox.left + bbox.width, y(Math.max(0, bottom)));
    ctx.stroke();
  }
}
