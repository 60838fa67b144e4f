"use strict";
// What a reader does with a figure: a value and its interval beside the pointer, a click on a name hides what it names, dragging
// zooms, a double click goes back. Figures over the time of one run zoom together.
const live = (() => {
  const CLOCK = "simulated time";
  const together = []; // the figures over time
  const NEAR = 28; // pixels
  const NS = "http://www.w3.org/2000/svg";
  const list = v => Array.isArray(v) ? v : [v];
  const four = v => sketch.number(v, 4);
  const unit = words => { const last = (words ?? "").split(", ").at(-1); return words?.includes(", ") && last.length < 13 ? last.replace(/ \(.*\)$/, "") : ""; };

  // A value of an axis in words: the label of its tick, or the number with the unit that the axis says.
  function said(area, axis, value, words) {
    const { a } = area, names = a.names[axis] ?? { at: a.ticks[axis] ?? [], texts: a.labels[axis] ?? [] }, label = names.texts[names.at.indexOf(value)];
    if (label) return label.replaceAll("\n", " ");
    if (a.labels[axis] && axis === "y") { const near = a.ticks.y.findIndex(tick => Math.abs(tick - value) < 0.5); if (near >= 0) return a.labels.y[near].replaceAll("\n", " "); }
    const u = unit(words);
    return four(value) + (u ? `\u00a0${u}` : "");
  }

  // The point that is nearest to the pointer, in pixels.
  function nearest(area, hidden, px, py) {
    let best = null;
    for (const item of area.a.items) {
      if (item.kind !== "line" || item.transform || hidden.has(item.gid || item.label) || (item.dash === "none" && !item.marker)) continue;
      const far = item.marker ? 1 : 1.6; // points before lines
      for (let k = 0; k < item.x.length; k++) {
        const x = area.X(item.x[k]), y = item.y[k] == null ? null : area.Y(item.y[k]);
        if (x == null || y == null || x < area.box.x - 2 || x > area.box.x + area.box.w + 2) continue;
        const away = Math.hypot(x - px, y - py) * far;
        if (away < NEAR && (!best || away < best.away)) best = { away, item, k, x, y };
      }
    }
    for (const { x: xs, y: ys, texts } of area.a.tips) for (let k = 0; k < xs.length; k++) {
      const x = area.X(xs[k]), y = area.Y(ys[k]), away = Math.hypot(x - px, y - py);
      if (away < 2 * NEAR && (!best || away < best.away)) best = { away, x, y, text: texts[k] };
    }
    return best;
  }

  // The interval of a point: the needle that goes through it.
  function interval(area, found) {
    const { item, k } = found;
    for (const one of area.a.items) {
      if (one.kind !== "needles" || (one.gid ?? "") !== (item.gid ?? "")) continue;
      const along = one.axis === "x" ? item.x[k] : item.y[k], place = one.at.indexOf(along);
      if (place >= 0) return { axis: one.axis, from: list(one.from)[place], to: list(one.to)[place] };
    }
    return null;
  }

  function words(drawn, area, found) {
    if (found.text) return found.text.split("\n");
    const { item, k } = found, { a } = area, name = item.gid || (item.label?.startsWith?.("_") ? "" : item.label) || "";
    const band = interval(area, found), across = a.title?.text && !a.labels.y ? a.title.text : drawn.beside || a.title?.text, along = a.xlabel || drawn.below || (drawn.sharex && drawn.all.findLast(one => one.xlabel)?.xlabel);
    const rows = Boolean(a.labels.y) && !drawn.beside; // rows of names: the value is along x
    const value = rows ? said(area, "x", item.x[k], a.title?.text?.includes(", ") ? a.title.text : along) : said(area, "y", item.y[k], drawn.beside || across);
    const lines = [rows ? [said(area, "y", item.y[k]), name] : [name, said(area, "x", item.x[k], along)]].map(parts => parts.filter(Boolean).join(", "));
    lines.push(value + (band && band.from != null && band.to != null && band.from !== band.to ? ` (${four(band.from)} to ${four(band.to)})` : ""));
    return lines;
  }

  return (place, figure) => {
    const seen = { hidden: new Set(), limits: {} };
    let drawn, start = null;
    // The words of the time axis that all of the figure has; nothing if it has none.
    const clock = () => { const words = drawn.all.findLast(one => one.xlabel)?.xlabel ?? drawn.below ?? ""; return (drawn.all.length === 1 || drawn.sharex) && words.startsWith(CLOCK) ? words : ""; };
    const look = limits => { drawn.all.forEach((_, i) => { seen.limits[i] = { ...seen.limits[i], ...limits }; }); draw(); };
    const back = () => { seen.limits = {}; draw(); };
    const me = { clock, look, back };
    together.push(me);
    const others = () => clock() ? together.filter(one => one !== me && one.clock() === clock()) : [];
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    const draw = room => { drawn = sketch(place, figure, seen, room); place.append(tip); };
    const at = event => { const box = place.querySelector("svg").getBoundingClientRect(), [, top] = place.querySelector("svg").getAttribute("viewBox").split(" "); return [event.clientX - box.left, event.clientY - box.top + +top]; };
    const inside = (x, y, room = 0) => drawn.areas.find(({ box }) => x >= box.x - room && x <= box.x + box.w + room && y >= box.y - room && y <= box.y + box.h + room);

    const hover = event => {
      const [x, y] = at(event), area = inside(x, y, 8);
      if (start) {
        const box = start.area.box, right = Math.min(Math.max(x, box.x), box.x + box.w), low = Math.min(Math.max(y, box.y), box.y + box.h);
        Object.assign(start, { right, low });
        const [l, t, w, h] = [Math.min(start.x, right), Math.min(start.y, low), Math.abs(right - start.x), Math.abs(low - start.y)];
        for (const [key, v] of Object.entries({ x: l, y: t, width: w, height: h })) start.mark.setAttribute(key, v);
      }
      const found = !start && area && nearest(area, seen.hidden, x, y);
      tip.hidden = !found;
      place.querySelector(".spot")?.remove();
      if (!found) return;
      tip.replaceChildren(...words(drawn, area, found).map(line => Object.assign(document.createElement("div"), { textContent: line })));
      const [, top] = place.querySelector("svg").getAttribute("viewBox").split(" ");
      tip.style.left = `${Math.max(0, Math.min(found.x + 10, place.clientWidth - tip.offsetWidth - 2) + place.scrollLeft)}px`;
      tip.style.top = `${found.y - top - tip.offsetHeight - 8}px`;
      const spot = document.createElementNS(NS, "circle");
      for (const [key, v] of Object.entries({ class: "spot", cx: found.x, cy: found.y, r: 5.5 })) spot.setAttribute(key, v);
      place.querySelector("svg").append(spot);
    };
    place.addEventListener("pointermove", hover);
    place.addEventListener("pointerleave", () => { tip.hidden = true; place.querySelector(".spot")?.remove(); });
    place.addEventListener("pointerdown", event => {
      const [x, y] = at(event), area = inside(x, y);
      if (event.pointerType === "touch") hover(event);
      if (event.pointerType === "touch" || event.button || !area || area.inverse.x(0.5) == null || area.inverse.y(0.5) == null) return;
      const mark = document.createElementNS(NS, "rect");
      mark.setAttribute("class", "zoomed");
      place.querySelector("svg").append(mark);
      start = { x, y, right: x, low: y, area, mark };
      event.preventDefault();
    });
    addEventListener("pointerup", () => {
      if (!start) return;
      const { area, mark, x, y, right, low } = start, { box } = area, wide = Math.abs(right - x) > 12, tall = Math.abs(low - y) > 12;
      start = null;
      mark.remove();
      if (!wide && !tall) return;
      const share = { x: [Math.min(x, right), Math.max(x, right)].map(v => (v - box.x) / box.w), y: [Math.max(y, low), Math.min(y, low)].map(v => 1 - (v - box.y) / box.h) };
      const limits = { ...(wide ? { x: share.x.map(area.inverse.x) } : {}), ...(tall ? { y: share.y.map(area.inverse.y) } : {}) };
      drawn.all.forEach((a, i) => {
        const own = Object.fromEntries(Object.entries(limits).filter(([axis]) => a === area.a || drawn["share" + axis]));
        if (Object.keys(own).length) seen.limits[i] = { ...seen.limits[i], ...own };
      });
      draw();
      if (wide) for (const one of others()) one.look({ x: limits.x });
    });
    place.addEventListener("dblclick", () => { back(); for (const one of others()) one.back(); });
    const toggle = event => {
      const gid = event.target.closest?.("[data-gid]")?.dataset.gid;
      if (gid === undefined || (event.key && event.key !== "Enter" && event.key !== " ")) return;
      if (!seen.hidden.delete(gid)) seen.hidden.add(gid);
      event.preventDefault();
      draw();
    };
    place.addEventListener("click", toggle);
    place.addEventListener("keydown", toggle);
    return draw;
  };
})();
