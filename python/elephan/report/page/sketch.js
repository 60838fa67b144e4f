"use strict";
// Draws the figures of a page as SVG from the calls that elephan.report.sketch has kept: the words are those of matplotlib.
const sketch = (() => {
  const PX = 1.36, INCH = 100, PASSES = 6, TICK = 8.5 * PX, LABEL = 9.5 * PX, LINE = 1.22;
  const SERIES = [0, 1, 2, 3, 4, 5].map(i => `var(--s${i})`);
  const canvas = document.createElement("canvas").getContext("2d");
  const finite = v => v != null && Number.isFinite(v);
  const list = v => Array.isArray(v) ? v : v == null ? [] : [v];
  const sides = s => s.split("\n");
  let font = "sans-serif";

  function width(text, size, bold) {
    canvas.font = `${bold ? "bold " : ""}${size}px ${font}`;
    return Math.max(0, ...sides(text).map(line => canvas.measureText(line).width));
  }
  const paint = c => c === "white" ? "var(--paper)" : c === "black" ? "var(--ink)" : c;

  // --- numbers on axes, as elephan.base.quantity and matplotlib write them
  const grouped = text => text.replace(/^-?\d{4,}/, d => d.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
  const short = v => String(+v.toPrecision(6));
  const raised = (v, count) => { // 2.5 × 10⁻⁸
    const [number, power] = v.toExponential(count - 1).split("e");
    return `${+number} × 10${String(+power).replace(/./g, d => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(d)])}`;
  };
  const number = (v, count) => v !== 0 && (Math.abs(v) < 1e-6 || Math.abs(v) >= 1e15) ? raised(v, count) : grouped(String(+v.toPrecision(count)));
  const UNITS_NS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const FORMATS = {
    plain: v => v < 1e6 ? grouped(short(v)) : raised(v, 1),
    percent: v => short(100 * v) + " %",
    count: v => grouped(short(v)),
    time: v => { const [f, u] = UNITS_NS.find(([f]) => v >= f * 0.9995) ?? [1, "ns"]; return `${+(v / f).toPrecision(3)} ${u}`; },
    power: v => "10" + String(Math.round(Math.log10(v))).replace(/./g, d => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(d)]),
  };

  // --- what an axes shows, from its calls
  function line(call, k) {
    const [name, args, options] = call;
    let [x, y, mark] = args;
    if (!Array.isArray(y)) [x, y, mark] = Array.isArray(x) && typeof y !== "number" ? [x.map((_, i) => i), x, y] : [[x], [y], mark];
    const found = { kind: "line", x: list(x), y: list(y), ...options, color: paint(options.color ?? SERIES[k % 6]) };
    const [, style, marker] = /^(-\.|--|-|:)?(.?)(?:-)?$/.exec(typeof mark === "string" ? mark : "") ?? [];
    found.marker = options.marker ?? (marker || null);
    const joined = typeof mark !== "string" || style || /-$/.test(mark);
    found.dash = options.linestyle ?? (joined ? style ?? "-" : "none");
    if (options.dashes && options.dashes[0] != null) found.dash = options.dashes;
    found.steps = name === "step" ? "steps-" + (options.where ?? "pre") : options.drawstyle;
    return found;
  }

  function read(calls) {
    const a = { items: [], texts: [], tips: [], names: {}, legends: [], grid: { x: false, y: true }, scale: { x: "linear", y: "linear" }, limits: { x: [], y: [] },
      format: {}, ticks: {}, labels: {}, bins: {}, spines: { left: true, bottom: true }, shown: true, tick: { x: {}, y: {} }, rotation: {} };
    let lines = 0;
    for (const call of calls) {
      const [name, args, options] = call, o = { ...options, color: options.color == null ? undefined : paint(options.color) };
      const limit = axis => {
        const [low, high] = Array.isArray(args[0]) ? args[0] : args;
        const given = axis === "x" ? [options.left, options.right] : [options.bottom, options.top];
        a.limits[axis] = [low ?? given[0] ?? a.limits[axis][0], high ?? given[1] ?? a.limits[axis][1]];
      };
      const ticks = axis => { a.ticks[axis] = args[0]; a.labels[axis] = args[1] ?? options.labels; a.rotation[axis] = options.rotation; };
      const both = axis => axis === "both" || axis == null ? ["x", "y"] : [axis];
      switch (name) {
        case "plot": case "step": a.items.push({ ...line(call, lines++), call }); break;
        case "stairs": { const [values, edges] = args; a.items.push({ kind: "stairs", values, edges, ...o, call }); break; }
        case "fill_between": a.items.push({ kind: "band", x: args[0], y: list(args[1]), base: args[2] ?? 0, ...o, color: o.color ?? SERIES[0], call }); break;
        case "axvspan": case "axhspan": a.items.push({ kind: "span", axis: name[2] === "v" ? "x" : "y", from: args[0], to: args[1], ...o, call }); break;
        case "axvline": case "axhline": a.items.push({ kind: "rule", axis: name[2] === "v" ? "x" : "y", at: args[0] ?? 0, ...o, call }); break;
        case "vlines": case "hlines": a.items.push({ kind: "needles", axis: name[0] === "v" ? "x" : "y", at: list(args[0]), from: args[1], to: args[2], ...o, color: o.color ?? paint(options.colors ?? SERIES[0]), call }); break;
        case "bar": a.items.push({ kind: "bars", x: list(args[0]), size: args[1], width: args[2] ?? o.width ?? 0.8, base: args[3] ?? o.bottom ?? 0, ...o, color: o.color ?? SERIES[0], call }); break;
        case "barh": a.items.push({ kind: "bars", flat: true, x: list(args[0]), size: args[1], width: args[2] ?? o.height ?? 0.8, base: args[3] ?? o.left ?? 0, ...o, color: o.color ?? SERIES[0], call }); break;
        case "broken_barh": a.items.push({ kind: "blocks", spans: args[0], low: args[1][0], tall: args[1][1], ...o, color: paint(o.facecolors ?? o.color ?? SERIES[0]), call }); break;
        case "annotate": a.texts.push({ text: args[0], at: args[1] ?? options.xy, ...o, annotation: true }); break;
        case "text": a.texts.push({ text: args[2], at: [args[0], args[1]], ...o }); break;
        case "set_title": a.title = { text: args[0], size: (options.fontsize ?? 9.5) * PX, pad: (options.pad ?? 8) * PX, color: paint(options.color ?? "var(--ink)") }; break;
        case "set_xlabel": a.xlabel = args[0]; break;
        case "set_ylabel": a.ylabel = args[0]; break;
        case "set_xlim": limit("x"); break;
        case "set_ylim": limit("y"); break;
        case "set_xscale": a.scale.x = args[0]; break;
        case "set_yscale": a.scale.y = args[0]; a.threshold = options; break;
        case "set_xticks": ticks("x"); break;
        case "set_yticks": ticks("y"); break;
        case "locator_params": for (const axis of both(options.axis)) a.bins[axis] = options.nbins; break;
        case "number_format": a.format[args[0]] = args[1]; if (args[2].length) a.bins[args[0]] = args[2].length; break;
        case "tick_params": for (const axis of both(options.axis)) Object.assign(a.tick[axis], options); break;
        case "grid": { const on = args[0] ?? options.visible ?? true; for (const axis of both(options.axis)) a.grid[axis] = on; break; }
        case "minorticks_off": break; // there are none
        case "set_axis_off": a.off = true; break;
        case "set_visible": a.shown = args[0]; break;
        case "tips": a.tips.push({ x: args[0], y: args[1], texts: args[2] }); break;
        case "tick_names": a.names[args[0]] = { at: args[1], texts: args[2] }; break;
        case "hide_spine": a.spines[args[0]] = false; break;
        case "legend": a.legends.push({ ...o, keys: options.handles, names: options.labels }); break;
      }
    }
    return a;
  }

  // --- scales
  function scaled(kind, low, high, threshold) {
    if (kind === "log") { const [l, h] = [Math.log10(low), Math.log10(high)]; return v => v > 0 ? (Math.log10(v) - l) / (h - l || 1) : null; }
    if (kind === "symlog") {
      const { linthresh: t = 1, linscale = 1 } = threshold, adjusted = linscale / 0.9;
      const place = v => Math.abs(v) <= t ? v * adjusted : Math.sign(v) * t * (adjusted + Math.log10(Math.abs(v) / t));
      return v => (place(v) - place(low)) / (place(high) - place(low) || 1);
    }
    return v => (v - low) / (high - low || 1);
  }

  // The value at a share of the way along an axis; null where a scale cannot be turned round.
  function unscaled(kind, low, high, share) {
    if (kind === "log") return low * (high / low) ** share;
    return kind === "symlog" ? null : low + (high - low) * share;
  }

  function reach(a, axis) {
    let low = Infinity, high = -Infinity, floor = false;
    const see = v => { for (const one of list(v)) if (finite(one) && (a.scale[axis] !== "log" || one > 0)) { low = Math.min(low, one); high = Math.max(high, one); } };
    for (const i of a.items) {
      if (i.transform === "axes" || (i.transform === "xaxis" && axis === "y")) continue;
      if (i.kind === "line") see(axis === "x" ? i.x : i.y);
      if (i.kind === "stairs") { see(axis === "x" ? i.edges : [0, ...i.values]); floor ||= axis === "y"; }
      if (i.kind === "band") { see(axis === "x" ? i.x : i.y); if (axis === "y") see(i.base); }
      if ((i.kind === "span" || i.kind === "rule") && i.axis === axis) see(i.kind === "rule" ? i.at : [i.from, i.to]);
      if (i.kind === "needles") see(i.axis === axis ? i.at : [...list(i.from), ...list(i.to)]);
      if (i.kind === "bars") {
        const along = (axis === "x") !== Boolean(i.flat);
        i.x.forEach((x, k) => {
          const w = list(i.width)[k] ?? list(i.width)[0], b = list(i.base)[k] ?? list(i.base)[0], s = list(i.size)[k] ?? list(i.size)[0];
          see(along ? (i.align === "edge" ? [x, x + w] : [x - w / 2, x + w / 2]) : [b, b + s]);
        });
        floor ||= !along;
      }
      if (i.kind === "blocks") see(axis === "x" ? i.spans.flatMap(([b, w]) => [b, b + w]) : [i.low, i.low + i.tall]);
    }
    if (low > high) return [0, 1];
    if (a.scale[axis] === "log") { const room = (high / low) ** 0.05 || 1.1; return [low / room, high * room]; }
    const room = (high - low || Math.abs(high) || 1) * 0.05;
    return [floor && low === 0 ? 0 : low - room, high + room];
  }

  function ticks(a, axis, low, high, pixels, size) {
    const [bottom, top] = low < high ? [low, high] : [high, low], inside = v => v >= bottom - 1e-9 * (top - bottom) && v <= top + 1e-9 * (top - bottom);
    const write = FORMATS[a.format[axis]];
    if (a.ticks[axis]) {
      const names = a.labels[axis];
      return a.ticks[axis].map((v, i) => [v, names ? String(names[i]) : write ? write(v) : decimals([v])(v)]).filter(([v]) => inside(v));
    }
    const most = Math.max(2, Math.floor(pixels / (axis === "x" ? 62 : size * 2.1)));
    if (a.scale[axis] === "log") {
      const from = Math.ceil(Math.log10(bottom) - 1e-9), to = Math.floor(Math.log10(top) + 1e-9), every = Math.max(1, Math.ceil((to - from + 1) / most));
      const parts = a.bins[axis] === 3 && (to - from + 2) * 3 <= most * 2 ? [1, 2, 5] : [1];
      const found = [];
      for (let k = from - 1; k <= to; k++) if ((k - from) % every === 0 || parts.length > 1) for (const p of parts) { const v = p * 10 ** k; if (inside(v)) found.push([v, (write ?? FORMATS.power)(+v.toPrecision(3))]); }
      if (found.length < 2 && parts.length < 2) for (let k = from - 1; k <= to; k++) for (const p of [2, 5]) { const v = p * 10 ** k; if (inside(v)) found.push([v, (write ?? short)(+v.toPrecision(3))]); }
      return found.sort((p, q) => p[0] - q[0]);
    }
    const bins = Math.min(a.bins[axis] ?? 9, most), raw = (top - bottom) / bins, unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map(m => m * unit).find(s => s >= raw * (1 - 1e-9)) ?? raw;
    const values = [];
    for (let k = Math.ceil(bottom / step - 1e-9); k * step <= top + 1e-9 * step; k++) values.push(+(k * step).toPrecision(12));
    const plain = decimals(values);
    return values.map(v => [v, (write ?? plain)(v)]);
  }
  function decimals(values) {
    const digits = Math.max(0, ...values.map(v => (String(+v.toPrecision(6)).split("e")[0].split(".")[1] ?? "").length));
    return v => Math.abs(v) >= 1e15 || (v !== 0 && Math.abs(v) < 1e-6) ? raised(+v.toPrecision(6), 6) : grouped(v.toFixed(digits));
  }

  // --- drawing
  const NS = "http://www.w3.org/2000/svg";
  const dashes = (dash, w) => dash === "--" ? "5 3" : dash === ":" ? "1.2 2.6" : dash === "-." ? "6 3 1.2 3" : Array.isArray(dash) ? dash.map(v => v * Math.max(w, 1) * 0.9).join(" ") : "";
  const round = v => Math.round(v * 100) / 100;

  function marker(kind, x, y, r) {
    const at = (dx, dy) => `${round(x + dx * r)} ${round(y + dy * r)}`;
    const shapes = {
      s: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], D: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]], d: [[0, -1.25], [0.75, 0], [0, 1.25], [-0.75, 0]],
      "^": [[0, -1], [1, 0.9], [-1, 0.9]], v: [[0, 1], [1, -0.9], [-1, -0.9]], "<": [[-1, 0], [0.9, -1], [0.9, 1]], ">": [[1, 0], [-0.9, -1], [-0.9, 1]],
    };
    if (shapes[kind]) return { d: "M" + shapes[kind].map(p => at(...p)).join("L") + "Z", solid: true };
    const strokes = { "|": [[0, -1], [0, 1]], _: [[-1, 0], [1, 0]], x: [[-0.8, -0.8], [0.8, 0.8], [-0.8, 0.8], [0.8, -0.8]], "+": [[-1, 0], [1, 0], [0, -1], [0, 1]] };
    if (strokes[kind]) return { d: strokes[kind].map((p, i) => (i % 2 ? "L" : "M") + at(...p)).join("") };
    return { d: `M${at(-1, 0)}a${round(r)} ${round(r)} 0 1 0 ${round(2 * r)} 0a${round(r)} ${round(r)} 0 1 0 ${round(-2 * r)} 0Z`, solid: true };
  }

  function stepped(points, how) {
    if (!how || how === "default") return points;
    const found = [];
    points.forEach(([x, y], i) => {
      if (i) {
        const [px, py] = points[i - 1];
        if (how === "steps-post" || how === "post") found.push([x, py]);
        else if (how === "steps-mid" || how === "mid") found.push([(x + px) / 2, py], [(x + px) / 2, y]);
        else found.push([px, y]);
      }
      found.push([x, y]);
    });
    return found;
  }

  function key(item, hidden) {
    const solid = ["band", "span", "bars", "stairs", "blocks"].includes(item.kind);
    return { solid, color: item.color, alpha: hidden.has(id(item)) ? 0.25 : item.alpha ?? 1, gid: id(item), dash: item.dash ?? item.dashes ?? item.linestyle, marker: item.kind === "line" ? item.marker : null, line: !solid && item.dash !== "none",
      width: item.linewidth ?? 1.4, size: item.markersize ?? 6, face: item.markerfacecolor, name: item.label };
  }
  const MARKS = 26;

  function legend(found, names, options, available) {
    const size = (options.fontsize ?? 8.5) * PX, gap = 14;
    const keys = found.map((k, i) => ({ ...k, name: String(names?.[i] ?? k.name) }));
    let columns = Math.min(options.ncols ?? options.ncol ?? 1, keys.length) || 1;
    const shape = n => {
      const rows = Math.ceil(keys.length / n), widths = Array.from({ length: n }, (_, c) => Math.max(0, ...keys.slice(c * rows, (c + 1) * rows).map(k => width(k.name, size) + MARKS + 6)));
      return { rows, widths, wide: widths.reduce((s, w) => s + w + gap, -gap) };
    };
    while (columns > 1 && shape(columns).wide > available) columns--;
    return { keys, size, gap, ...shape(columns), tall: shape(columns).rows * size * 1.45 };
  }

  // Draws a figure into a place. `seen` says what a reader hides and where he looks: `hidden` names, `limits` of axes by their number.
  // `room`: how wide it may be, unless as wide as its place. Returns where data stand in the picture, for each axes that shows them.
  function draw(place, figure, seen = { hidden: new Set(), limits: {} }, room = place.clientWidth || 600) {
    font = getComputedStyle(document.body).fontFamily;
    const { options } = figure, shown = figure.wrap ? figure.axes.filter(calls => !calls.some(([name, args]) => name === "set_visible" && !args[0])) : figure.axes;
    const columns = figure.wrap ? Math.max(1, Math.min(figure.columns, Math.floor(room / figure.wrap))) : figure.columns;
    const rows = Math.ceil(shown.length / columns), all = shown.map(read), by = (r, c) => all[r * columns + c];
    const W = Math.max(room, columns > 2 ? 165 * columns : columns > 1 ? 340 : 260);
    const H = figure.height * INCH * rows / figure.rows;
    share(all, options, columns);
    for (const [i, limits] of Object.entries(seen.limits)) Object.assign(all[i], limits);
    const named = new Set(all.flatMap(a => a.items.map(id)).filter(Boolean)), areas = [];
    const cells = all.map(() => ({ left: 0, right: 6, top: 6, bottom: 4 }));
    // Words of the whole figure
    const of = name => figure.calls.filter(c => c[0] === name).map(([, args, o]) => ({ args, ...o }));
    const [below] = of("supxlabel"), [beside] = of("supylabel");
    const keys = of("legend").map(l => {
      const handles = l.handles ?? l.args[0] ?? [], names = l.labels ?? l.args[1];
      return legend(handles.map(h => key({ ...(h[0] === "plot" ? line(h, 0) : read([h]).items[0]) }, seen.hidden)), names, l, W - 20);
    });
    const foot = keys.reduce((s, k) => s + k.tall + 8, 0) + (below ? LABEL * 1.5 : 0), edge = beside ? LABEL * 1.6 : 0;
    let layout;
    for (let pass = 0; pass < PASSES; pass++) {
      layout = place_all(cells);
      if (pass === PASSES - 1) break;
      for (const [i, over] of layout.overflow.entries()) for (const side of ["left", "right", "top", "bottom"]) cells[i][side] += Math.max(0, over[side] ?? 0);
    }
    function place_all(margins) {
      const edgeOf = (side, those) => Math.max(0, ...those.map(i => margins[i]?.[side] ?? 0));
      const index = (r, c) => r * columns + c, rowsOf = [...Array(rows).keys()], columnsOf = [...Array(columns).keys()];
      const ratios = options.gridspec_kw ?? {}, gapX = 12, gapY = 10;
      const left = columnsOf.map(c => edgeOf("left", rowsOf.map(r => index(r, c)))), right = columnsOf.map(c => edgeOf("right", rowsOf.map(r => index(r, c))));
      const top = rowsOf.map(r => edgeOf("top", columnsOf.map(c => index(r, c)))), bottom = rowsOf.map(r => edgeOf("bottom", columnsOf.map(c => index(r, c))));
      const sum = values => values.reduce((s, v) => s + v, 0);
      const spread = (total, shares) => shares.map(s => Math.max(20, total * s / sum(shares)));
      const wide = spread(W - edge - sum(left) - sum(right) - gapX * (columns - 1), ratios.width_ratios ?? columnsOf.map(() => 1));
      const tall = spread(H - foot - sum(top) - sum(bottom) - gapY * (rows - 1), ratios.height_ratios ?? rowsOf.map(() => 1));
      const out = [], overflow = all.map(() => ({}));
      let y = 0;
      areas.length = 0;
      for (const r of rowsOf) {
        let x = edge;
        for (const c of columnsOf) {
          const box = { x: x + left[c], y: y + top[r], w: wide[c], h: tall[r] };
          const cell = { x0: x, x1: x + left[c] + wide[c] + right[c], y0: y, y1: y + top[r] + tall[r] + bottom[r] };
          const a = by(r, c);
          if (a?.shown) {
            const inner = { x: options.sharex && r < rows - 1 && !a.tick.x.labelbottom && by(r + 1, c)?.shown, y: options.sharey && c > 0 && !a.tick.y.labelleft };
            const pieces = axes(a, box, inner, W - edge, seen.hidden, areas);
            out.push(...pieces);
            const o = { left: 0, right: 0, top: 0, bottom: 0 };
            for (const p of pieces) if (p.box) {
              o.left = Math.max(o.left, cell.x0 - p.box[0]); o.right = Math.max(o.right, p.box[2] - cell.x1);
              o.top = Math.max(o.top, cell.y0 - p.box[1]); o.bottom = Math.max(o.bottom, p.box[3] - cell.y1);
            }
            overflow[index(r, c)] = o;
          }
          x += left[c] + wide[c] + right[c] + gapX;
        }
        y += top[r] + tall[r] + bottom[r] + gapY;
      }
      return { out, overflow };
    }
    const out = layout.out;
    let y = H - foot;
    if (below) { out.push(...text(below.args[0], edge + (W - edge) / 2, y + LABEL, { size: (below.fontsize ?? 9.5) * PX, ha: "center", color: below.color })); y += LABEL * 1.5; }
    if (beside) out.push(...text(beside.args[0], LABEL * 0.6, (H - foot) / 2, { size: (beside.fontsize ?? 9.5) * PX, ha: "center", va: "center", color: beside.color, turn: -90 }));
    for (const k of keys) { y += 8; out.push(...keyed(k, (W - k.wide) / 2, y)); y += k.tall; }
    show(place, out, W, H, named, seen.hidden);
    return { areas, all, sharex: options.sharex, sharey: options.sharey, beside: beside?.args[0] ?? "", below: below?.args[0] ?? "" };
  }
  const id = item => item.gid || (item.label && !String(item.label).startsWith("_") ? item.label : "");

  function share(all, options, columns) {
    const groups = [];
    for (const [axis, how] of [["x", options.sharex], ["y", options.sharey]]) {
      const of = i => how === true || how === "all" ? 0 : how === "row" ? Math.floor(i / columns) : how === "col" ? i % columns : i;
      for (let g = 0; g < all.length; g++) { const members = all.filter((_, i) => of(i) === g); if (members.length) groups.push([axis, members]); }
    }
    for (const [axis, members] of groups) {
      const own = members.filter(a => a.shown).length ? members.filter(a => a.shown) : members;
      const scale = own.map(a => a.scale[axis]).find(s => s !== "linear") ?? "linear";
      for (const a of own) a.scale[axis] = scale;
      const given = side => own.map(a => a.limits[axis][side]).filter(finite).pop();
      const ranges = own.map(a => reach(a, axis)), found = [given(0) ?? Math.min(...ranges.map(r => r[0])), given(1) ?? Math.max(...ranges.map(r => r[1]))];
      if (found[0] === found[1]) found[1] = found[0] + 1;
      for (const a of members) a[axis] = found;
    }
  }

  function text(words, x, y, { size = TICK, ha = "left", va = "baseline", color = "var(--ink)", turn = 0, bold = false, back = false, clip } = {}) {
    const lines = sides(String(words)), w = width(String(words), size, bold), step = size * LINE, h = step * lines.length;
    const dx = ha === "center" ? -w / 2 : ha === "right" ? -w : 0;
    const dy = va === "center" ? -h / 2 : va === "top" ? 0 : va === "bottom" ? -h : -h + step * 0.26;
    let box = [x + dx, y + dy, x + dx + w, y + dy + h];
    if (turn) { // seen from the place of the text, quarter turns only
      box = Math.abs(turn) === 90 ? [x - h / 2, y - w / 2, x + h / 2, y + w / 2] : box;
      if (Math.abs(turn) === 90 && va === "bottom") box = [x - h / 2, y - w, x + h / 2, y];
      if (Math.abs(turn) === 90 && va === "top") box = [x - h / 2, y, x + h / 2, y + w];
    }
    return [{ words: lines, x, y, size, ha, turn, va, color, bold, back, box, dx, dy, step, clip }];
  }

  function keyed(k, x0, y0) {
    const out = [];
    let x = x0;
    for (let c = 0, i = 0; c < k.widths.length; c++) {
      for (let r = 0; r < k.rows && i < k.keys.length; r++, i++) {
        const one = k.keys[i], y = y0 + (r + 0.5) * k.size * 1.45;
        if (one.solid) out.push({ d: `M${x} ${y - 5}h20v10h-20Z`, fill: one.color, alpha: one.alpha });
        if (one.line) out.push({ d: `M${x} ${y}h20`, stroke: one.color, width: Math.max(1.2, one.width * PX), dash: dashes(one.dash, one.width), alpha: one.alpha });
        if (one.marker) { const m = marker(one.marker, x + 10, y, one.size * PX / 2); out.push({ d: m.d, fill: m.solid ? paint(one.face ?? one.color) : "none", stroke: one.color, width: 1.2, alpha: one.alpha }); }
        out.push({ ...text(one.name, x + MARKS, y, { size: k.size, va: "center" })[0], gid: one.gid });
      }
      x += k.widths[c] + k.gap;
    }
    return out;
  }

  function axes(a, box, inner, W, hidden, areas) {
    const out = [], placeX = scaled(a.scale.x, ...a.x, a.threshold), placeY = scaled(a.scale.y, ...a.y, a.threshold ?? {});
    const X = v => { const s = placeX(v); return s == null ? null : box.x + s * box.w; }, Y = v => { const s = placeY(v); return s == null ? null : box.y + box.h - s * box.h; };
    const AX = v => box.x + v * box.w, AY = v => box.y + (1 - v) * box.h;
    const clip = [box.x, box.y, box.w, box.h];
    areas.push({ a, box, X, Y, inverse: { x: s => unscaled(a.scale.x, ...a.x, s), y: s => unscaled(a.scale.y, ...a.y, s) } });
    if (!a.off) {
      frame(a, box, inner, X, Y, out);
      if (a.xlabel && !inner.x) { const y = Math.max(box.y + box.h, ...out.filter(p => p.tick === "x").map(p => p.box[3])); out.push(...text(fitted(a.xlabel, box.w + 20, LABEL), box.x + box.w / 2, y + 3, { size: LABEL, ha: "center", va: "top", color: "var(--muted)" })); }
      if (a.ylabel && !inner.y) { const x = Math.min(box.x, ...out.filter(p => p.tick === "y").map(p => p.box[0])); out.push(...text(a.ylabel, x - LABEL * 0.8, box.y + box.h / 2, { size: LABEL, ha: "center", va: "center", color: "var(--muted)", turn: -90 })); }
    }
    const over = Math.min(box.y, ...out.filter(p => p.tick === "x").map(p => p.box[1]));
    const legends = a.legends.map(l => {
      const named = l.keys ? l.keys.map(h => ({ ...(h[0] === "plot" ? line(h, 0) : read([h]).items[0]) })) : a.items.filter(i => i.label && !String(i.label).startsWith("_"));
      return [l, legend(named.map(i => key(i, hidden)), l.names, l, Math.min(W - 20, l.bbox_to_anchor ? W : box.w))];
    });
    // A legend beside the heading moves it up where there is no room for both.
    const crowded = legends.filter(([l, k]) => (l.bbox_to_anchor ?? [0, 0])[1] >= 1 && width(a.title?.text ?? "", a.title?.size ?? 0) + k.wide + 16 > box.w);
    const lift = Math.max(0, ...crowded.map(([, k]) => k.tall));
    if (a.title) out.push(...text(fitted(a.title.text, box.w + 30, a.title.size), box.x, over - lift - a.title.pad + 2.4 * PX, { size: a.title.size, va: "bottom", color: a.title.color }));
    const order = i => i.zorder ?? (i.kind === "span" || i.kind === "band" || i.kind === "bars" ? 1 : 2);
    for (const i of a.items.filter(i => !hidden.has(id(i))).sort((p, q) => order(p) - order(q))) shape(i, { X, Y, AX, AY, box, clip }, out);
    for (const t of a.texts) label(t, { X, Y, AX, AY, box }, out);
    for (const [l, k] of legends) {
      const loc = l.loc === "best" || l.loc == null ? "upper right" : l.loc, pad = 6;
      const fx = /left/.test(loc) ? 0 : /right/.test(loc) ? 1 : 0.5, fy = /upper/.test(loc) ? 1 : /lower/.test(loc) ? 0 : 0.5;
      const [ax, ay] = l.bbox_to_anchor ?? [fx, fy];
      const x = AX(ax) - fx * k.wide + (fx === 0 ? pad : fx === 1 ? -pad : 0), y = AY(ay) - (1 - fy) * k.tall + (fy === 1 ? pad : fy === 0 ? -pad : 0) - (ay >= 1 && a.title ? a.title.pad - 8 * PX : 0);
      out.push(...keyed(k, Math.max(0, x), y));
    }
    return out;
  }

  function fitted(words, room, size) {
    if (width(words, size) <= room) return words;
    const lines = [""];
    for (const word of words.replaceAll("\n", " ").split(" ")) {
      if (lines.at(-1) && width(lines.at(-1) + " " + word, size) > room) lines.push(word);
      else lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
    }
    return lines.join("\n");
  }

  function frame(a, box, inner, X, Y, out) {
    const bottom = box.y + box.h, right = box.x + box.w;
    const xs = ticks(a, "x", ...a.x, box.w, TICK), ys = ticks(a, "y", ...a.y, box.h, TICK);
    if (a.grid.x) for (const [v] of xs) out.push({ d: `M${round(X(v))} ${box.y}V${bottom}`, stroke: "var(--grid)", width: 1 });
    if (a.grid.y) for (const [v] of ys) out.push({ d: `M${box.x} ${round(Y(v))}H${right}`, stroke: "var(--grid)", width: 1 });
    if (a.spines.bottom) out.push({ d: `M${box.x} ${bottom}H${right}`, stroke: "var(--muted)", width: 0.9 });
    if (a.spines.left) out.push({ d: `M${box.x} ${box.y}V${bottom}`, stroke: "var(--muted)", width: 0.9 });
    const atTop = a.tick.x.labeltop, turned = a.rotation.x === 90, shade = axis => paint(a.tick[axis].labelcolor ?? "var(--muted)");
    if (!inner.x) {
      let taken = -Infinity;
      const named = Boolean(a.ticks.x);
      for (const [v, words] of xs) {
        const x = X(v), w = width(words, TICK) * (turned ? 0 : 1);
        if ((a.tick.x.length ?? 3) > 0 && !atTop && a.spines.bottom) out.push({ d: `M${round(x)} ${bottom}v4`, stroke: "var(--muted)", width: 0.9 });
        if (!words || (!turned && x - w / 2 < taken + (named ? 3 : 8))) continue;
        taken = x + w / 2;
        const [t] = text(words, x, atTop ? box.y - 5 : bottom + 6, { ha: turned ? atTop ? "left" : "right" : "center", va: turned ? "center" : atTop ? "bottom" : "top", color: shade("x"), turn: turned ? -90 : 0 });
        if (turned) { const long = width(words, TICK); t.box = atTop ? [x - TICK / 2, box.y - 5 - long, x + TICK / 2, box.y] : [x - TICK / 2, bottom, x + TICK / 2, bottom + 6 + long]; }
        out.push({ ...t, tick: "x" });
      }
    }
    if (!inner.y) for (const [v, words] of ys) if (words) out.push({ ...text(words, box.x - 6, Y(v), { ha: "right", va: "center", color: shade("y") })[0], tick: "y" });
  }

  function shape(i, { X, Y, AX, AY, box, clip }, out) {
    const alpha = i.alpha ?? 1, w = (i.linewidth ?? 1.4) * PX, cut = i.clip_on === false ? undefined : clip;
    const of = (values, k) => Array.isArray(values) ? values[k] : values;
    const path = runs => runs.map(run => "M" + run.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")).join("");
    const area = points => points.length ? `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}Z` : "";
    if (i.kind === "line") {
      const px = i.transform === "axes" ? AX : X, py = i.transform ? AY : Y, runs = [[]];
      i.x.forEach((x, k) => { const p = finite(x) ? px(x) : null, q = finite(i.y[k]) ? py(i.y[k]) : null; if (p == null || q == null) runs.push([]); else runs.at(-1).push([p, q]); });
      const whole = runs.filter(run => run.length);
      if (i.dash !== "none" && i.dash !== "" && i.linewidth !== 0) out.push({ d: path(whole.filter(run => run.length > 1).map(run => stepped(run, i.steps))), stroke: i.color, width: w, dash: dashes(i.dash, w), alpha, clip: cut });
      if (i.marker) {
        const r = (i.marker === "." ? 0.5 : 1) * (i.markersize ?? 6) * PX / 2, found = whole.flat().map(([x, y]) => marker(i.marker, x, y, r));
        if (found.length) out.push({ d: found.map(m => m.d).join(""), fill: found[0].solid ? paint(i.markerfacecolor ?? i.color) : "none", stroke: paint(i.markeredgecolor ?? i.color), width: (i.markeredgewidth ?? 1) * PX, alpha, clip: cut });
      }
    } else if (i.kind === "band") {
      let run = [];
      const flush = () => {
        if (run.length > 1) {
          const up = stepped(run.map(k => [X(i.x[k]), Y(of(i.y, i.y.length > 1 ? k : 0))]), i.step && "steps-" + i.step), down = stepped(run.map(k => [X(i.x[k]), Y(of(i.base, k))]), i.step && "steps-" + i.step);
          out.push({ d: area([...up, ...down.reverse()].map(([x, y]) => [x, y ?? box.y + box.h])), fill: i.color, alpha, clip });
        }
        run = [];
      };
      i.x.forEach((x, k) => finite(x) && finite(of(i.y, i.y.length > 1 ? k : 0)) && finite(of(i.base, k)) ? run.push(k) : flush());
      flush();
    } else if (i.kind === "stairs") {
      const points = stepped([...i.values, i.values.at(-1)].map((v, k) => [X(i.edges[k]), Y(v)]), "steps-post");
      if (i.fill) out.push({ d: area([[points[0][0], Y(0)], ...points, [points.at(-1)[0], Y(0)]]), fill: i.color, alpha, clip });
      else out.push({ d: path([[[points[0][0], Y(0)], ...points, [points.at(-1)[0], Y(0)]]]), stroke: i.color, width: w, alpha, clip });
    } else if (i.kind === "span") {
      const [p, q] = i.axis === "x" ? [X(i.from), X(i.to)] : [Y(i.from), Y(i.to)];
      out.push({ d: i.axis === "x" ? area([[p, box.y], [q, box.y], [q, box.y + box.h], [p, box.y + box.h]]) : area([[box.x, p], [box.x + box.w, p], [box.x + box.w, q], [box.x, q]]), fill: i.color, alpha, clip });
    } else if (i.kind === "rule") {
      const at = i.axis === "x" ? X(i.at) : Y(i.at);
      if (at != null) out.push({ d: i.axis === "x" ? `M${round(at)} ${box.y}v${box.h}` : `M${box.x} ${round(at)}h${box.w}`, stroke: i.color ?? SERIES[0], width: w, dash: dashes(i.dashes ?? i.linestyle, w), alpha, clip });
    } else if (i.kind === "needles") {
      const d = i.at.map((v, k) => { const b = of(i.from, k), e = of(i.to, k); return finite(v) && finite(b) && finite(e) ? i.axis === "x" ? `M${round(X(v))} ${round(Y(b))}V${round(Y(e))}` : `M${round(X(b))} ${round(Y(v))}H${round(X(e))}` : ""; }).join("");
      out.push({ d, stroke: i.color, width: w, dash: dashes(i.linestyles, w), alpha, clip });
    } else if (i.kind === "bars") {
      const d = i.x.map((x, k) => {
        const half = of(i.width, k), b = of(i.base, k), e = b + of(i.size, k), [from, to] = i.align === "edge" ? [x, x + half] : [x - half / 2, x + half / 2];
        if (![x, b, e].every(finite) || b === e) return "";
        const [p, q, r, s] = i.flat ? [X(b), X(e), Y(from), Y(to)] : [X(from), X(to), Y(b) ?? box.y + box.h, Y(e)];
        return area([[p, r], [q, r], [q, s], [p, s]]);
      }).join("");
      out.push({ d, fill: i.color, alpha, clip });
    } else if (i.kind === "blocks") {
      out.push({ d: i.spans.map(([b, long]) => area([[X(b), Y(i.low)], [X(b + long), Y(i.low)], [X(b + long), Y(i.low + i.tall)], [X(b), Y(i.low + i.tall)]])).join(""), fill: i.color, alpha, clip });
    }
  }

  function label(t, { X, Y, AX, AY, box }, out) {
    const shares = list(t.xycoords ?? (t.transform === "axes" ? "axes fraction" : t.transform === "xaxis" ? ["data", "axes fraction"] : "data"));
    const [cx, cy] = shares.length === 2 ? shares : [shares[0], shares[0]];
    const x = cx === "axes fraction" ? AX(t.at[0]) : X(t.at[0]), y = cy === "axes fraction" ? AY(t.at[1]) : Y(t.at[1]);
    if (x == null || y == null || !finite(x) || !finite(y)) return;
    if (t.fit && width(String(t.text), (t.fontsize ?? 9.5) * PX) > Math.abs(X(t.at[0] + t.fit) - x)) return;
    const inside = (v, from, long) => v >= from - 1 && v <= from + long + 1;
    if (t.annotation && t.annotation_clip !== false && cx === "data" && cy === "data" && !(inside(x, box.x, box.w) && inside(y, box.y, box.h))) return;
    // A mark of a time leaves with it when a zoom leaves it out; some stand a little beyond the end
    if (t.annotation && cx === "data" && cy !== "data" && (x < box.x - box.w / 10 || x > box.x + box.w * 1.1)) return;
    let px = x, py = y;
    if (t.xytext && t.textcoords === "offset points") { px += t.xytext[0] * PX; py -= t.xytext[1] * PX; }
    if (t.xytext && t.textcoords === "axes fraction") { px = AX(t.xytext[0]); py = AY(t.xytext[1]); }
    if (t.arrowprops) out.push({ d: `M${round(x)} ${round(y)}L${round(px)} ${round(py)}`, stroke: paint(t.arrowprops.color ?? "var(--muted)"), width: (t.arrowprops.linewidth ?? 1) * PX });
    out.push({ ...text(t.text, px, py, { size: (t.fontsize ?? 9.5) * PX, ha: t.ha ?? t.horizontalalignment, va: t.va ?? t.verticalalignment, color: paint(t.color ?? "var(--ink)"), bold: t.fontweight === "bold", turn: t.rotation ? -t.rotation : 0, back: Boolean(t.bbox) })[0], gid: t.gid });
  }

  function show(place, out, W, H, named, hidden) {
    const top = Math.min(0, ...out.filter(p => p.box).map(p => p.box[1])), bottom = Math.max(H, ...out.filter(p => p.box).map(p => p.box[3]));
    const svg = document.createElementNS(NS, "svg");
    const make = (name, attributes, parent = svg) => {
      const node = document.createElementNS(NS, name);
      for (const [k, v] of Object.entries(attributes)) if (v !== undefined && v !== "") node.setAttribute(k, v);
      return parent.appendChild(node);
    };
    svg.setAttribute("viewBox", `0 ${round(top)} ${round(W)} ${round(bottom - top)}`);
    svg.setAttribute("width", round(W));
    svg.setAttribute("height", round(bottom - top));
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", place.dataset.title);
    const clips = new Map();
    const clipped = box => {
      const name = box.map(round).join(" ");
      if (!clips.has(name)) {
        const id = `clip-${draw.count = (draw.count ?? 0) + 1}`;
        make("rect", { x: box[0], y: box[1] - 1, width: box[2], height: box[3] + 2 }, make("clipPath", { id }));
        clips.set(name, `url(#${id})`);
      }
      return clips.get(name);
    };
    for (const p of out) {
      if (p.d !== undefined) {
        if (p.d) make("path", { d: p.d, style: `fill:${p.fill ?? "none"};stroke:${p.stroke ?? "none"}`, "stroke-width": p.stroke && round(p.width), "stroke-dasharray": p.dash, opacity: p.alpha === 1 ? undefined : p.alpha, "clip-path": p.clip && clipped(p.clip), "stroke-linejoin": p.stroke && "round" });
        continue;
      }
      if (p.back) make("rect", { x: round(p.box[0] - 1), y: round(p.box[1]), width: round(p.box[2] - p.box[0] + 2), height: round(p.box[3] - p.box[1]), style: "fill:var(--paper)", opacity: 0.8 });
      const node = make("text", { style: `fill:${p.color}`, "font-size": round(p.size), "font-weight": p.bold ? 600 : undefined, "text-anchor": { center: "middle", right: "end" }[p.ha] ?? "start", transform: p.turn ? `rotate(${p.turn} ${round(p.x)} ${round(p.y)})` : undefined });
      if (named.has(p.gid)) {
        node.dataset.gid = p.gid;
        node.setAttribute("tabindex", "0");
        node.setAttribute("role", "button");
        node.setAttribute("aria-pressed", String(!hidden.has(p.gid)));
        if (hidden.has(p.gid)) node.setAttribute("opacity", "0.35");
      }
      const first = p.y + (p.turn ? p.size * 0.35 : p.dy + p.step * 0.78);
      p.words.forEach((words, k) => { make("tspan", { x: round(p.x), y: round(first + k * p.step) }, node).textContent = words; });
    }
    place.replaceChildren(svg);
  }
  draw.number = number;
  draw.raised = raised;
  return draw;
})();
