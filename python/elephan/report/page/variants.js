"use strict";
// The table of all variants of a sweep: sorts, filters, and compares with a baseline. Its data are those of elephan.report.page.variants.
(() => {
  const FIRST = 25; // rows at once; more on demand
  const PRINTED = 1000; // rows on paper
  const make = (parent, name, attributes = {}, text) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };

  // --- numbers as elephan.base.quantity.show writes them
  const SMALL = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]], LARGE = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const UNITS = { bps: ["b/s", LARGE, 1], bytes: ["B", LARGE, 1], s: ["s", SMALL, 1], ns: ["s", SMALL, 1e-9] };
  function fixed(v, places) { // a half goes to the even digit, as in Python
    const text = v.toFixed(places), scaled = Math.abs(v) * 10 ** places;
    return scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0 ? (Math.sign(v) * Math.floor(scaled) / 10 ** places).toFixed(places) : text;
  }
  function digits(v, count) {
    if (v === 0) return "0";
    if (Math.abs(v) < 1e-6 || Math.abs(v) >= 1e15) return sketch.raised(v, count);
    const text = fixed(v, Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(v)))));
    const [whole, part] = text.split("."), rest = part?.replace(/0+$/, "");
    return whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (rest ? "." + rest : "");
  }
  function show(v, unit, count = 4) {
    if (v == null) return "n/a";
    if (unit === "%" || unit === "pp") return `${digits(100 * v, count)}\u00a0${unit}`;
    if (!UNITS[unit]) return digits(v, count) + (unit === "1" || !unit ? "" : "\u00a0" + unit);
    const [symbol, steps, scale] = UNITS[unit], base = v * scale;
    if (base === 0) return `0\u00a0${symbol}`;
    if (unit === "bytes" && base > 0 && base < 1) return "< 1\u00a0B";
    const [factor, prefix] = steps.find(([f]) => Math.abs(base) >= f * 0.9995) ?? steps.at(-1);
    return `${digits(base / factor, count)}\u00a0${prefix}${symbol}`;
  }

  function table(place, data) {
    const { axes, statistics, names } = data, rows = names.map((_, i) => i);
    const state = { sort: null, down: false, words: [], limits: axes.map(() => [null, null]), base: "", all: false };
    const bar = make(place, "div", { class: "tools" });
    const search = make(make(bar, "label", {}, "find "), "input", { type: "search", placeholder: "such as red reno" });
    search.addEventListener("input", () => { state.words = search.value.toLowerCase().split(/[\s,]+/).filter(Boolean); fill(); });
    axes.forEach((axis, a) => {
      const many = !axis.named && axis.texts.length > 12, ends = many ? ["from", "to"] : [""];
      ends.forEach((end, e) => {
        const select = make(make(bar, "label", {}, `${axis.words} ${end} `), "select", { "data-axis": a, "data-end": e });
        make(select, "option", { value: "" }, end ? "any" : "all");
        const every = Math.ceil(axis.texts.length / 60);
        axis.texts.forEach((text, v) => { if (v % every === 0 || v === axis.texts.length - 1) make(select, "option", { value: v }, text); });
        select.addEventListener("change", () => {
          const v = select.value === "" ? null : +select.value;
          if (many) state.limits[a][e] = v; else state.limits[a] = [v, v];
          fill();
        });
      });
    });
    if (data.base.rows) {
      const select = make(make(bar, "label", {}, "difference to "), "select", { class: "base" });
      make(select, "option", { value: "" }, "nothing: show values");
      make(select, "option", { value: "given" }, data.base.words);
      if (data.values) {
        for (const [a, axis] of axes.entries()) if (data.grid && axis.texts.length <= 30) {
          const group = make(select, "optgroup", { label: `${axis.words}, all else alike` });
          axis.texts.forEach((text, v) => make(group, "option", { value: `axis ${a} ${v}` }, axis.named ? text : `${axis.words} ${text}`));
        }
        if (names.length <= 200) {
          const group = make(select, "optgroup", { label: "one variant" });
          names.forEach((name, i) => make(group, "option", { value: `row ${i}` }, name));
        }
      }
      select.value = state.base = data.base.asked ? "given" : "";
      select.addEventListener("change", () => { state.base = select.value; fill(); });
    }
    bar.hidden = names.length < 2;
    const count = make(place, "p", { class: "note count" });
    const body = make(make(place, "div", { class: "scroll" }), "table", { class: statistics.length + axes.length > 3 ? "wide" : "" });
    let rowsShown = [];
    place.append(take.give(() => place.dataset.name, () => {
      const base = baseOf(), empty = { text: "", more: "", numbers: {}, unit: "" };
      return [
        ...axes.map(axis => ({ title: axis.words, cells: rowsShown.map(i => axis.numbers ? { ...empty, numbers: { "": axis.numbers[axis.at[i]] }, unit: axis.unit } : { ...empty, text: axis.texts[axis.at[i]] }) })),
        ...statistics.map(s => ({
          title: base ? `${s.title}, difference` : s.title,
          cells: rowsShown.map(i => {
            const found = cell(s, i, base), known = Object.entries({ mean: found?.[0], low: found?.[1], high: found?.[2] }).filter(([, v]) => v != null);
            return { ...empty, numbers: Object.fromEntries(known.map(([kind, v]) => [kind, +(v * s.base[0]).toPrecision(12)])), unit: s.base[1] };
          }),
        })),
      ];
    }));
    const more = make(place, "button", { type: "button", class: "more" });
    more.addEventListener("click", () => { state.all = true; fill(); });

    const bases = new Map();
    function baseOf() {
      if (state.base === "" || state.base === "given") return state.base && data.base.rows;
      if (!bases.has(state.base)) {
        const [kind, one, value] = state.base.split(" ");
        if (kind === "row") bases.set(state.base, rows.map(() => +one));
        else {
          const key = i => axes.map((axis, a) => a === +one ? "" : axis.at[i]).join(" "), first = new Map();
          for (const i of rows) if (axes[one].at[i] === +value && !first.has(key(i))) first.set(key(i), i);
          bases.set(state.base, rows.map(i => first.get(key(i)) ?? -1));
        }
      }
      return bases.get(state.base);
    }
    // The difference of two variants seed by seed, with its t interval, cut off at what is possible.
    function difference(s, i, base) {
      if (base < 0 || base === i) return null;
      if (!data.values) return s.differences ? [s.differences[0][i], s.differences[1][i], s.differences[2][i]] : null;
      const n = data.seeds, own = data.values[s.place], found = [];
      for (let k = 0; k < n; k++) { const a = own[i * n + k], b = own[base * n + k]; if (a != null && b != null) found.push(a - b); }
      if (!found.length) return null;
      const mean = found.reduce((x, y) => x + y, 0) / found.length;
      if (found.length < 2) return [mean, null, null];
      if (Math.max(...found) - Math.min(...found) <= 1e-14 * Math.max(...found.map(Math.abs))) return [found[0], found[0], found[0]];
      const spread = Math.sqrt(found.reduce((x, y) => x + (y - mean) ** 2, 0) / (found.length - 1) / found.length), half = data.t[found.length] * spread;
      const most = s.most ?? Infinity;
      return [mean, Math.max(mean - half, -most), Math.min(mean + half, most)];
    }
    const cell = (s, i, base) => base ? difference(s, i, base[i]) : s.mean[i] == null ? null : [s.mean[i], s.low[i], s.high[i]];

    function fill() {
      const base = baseOf();
      const shown = rows.filter(i => axes.every((axis, a) => {
        const [from, to] = state.limits[a];
        return (from == null || axis.at[i] >= from) && (to == null || axis.at[i] <= to);
      }) && state.words.every(word => data.texts[i].includes(word)));
      if (state.sort != null) {
        const value = state.sort < axes.length ? i => axes[state.sort].at[i] : i => cell(statistics[state.sort - axes.length], i, base)?.[0];
        const of = new Map(shown.map(i => [i, value(i)])), sign = state.down ? -1 : 1;
        shown.sort((i, j) => of.get(i) == null ? 1 : of.get(j) == null ? -1 : sign * (of.get(i) - of.get(j)) || i - j);
      }
      rowsShown = shown;
      body.replaceChildren();
      const head = make(make(body, "thead"), "tr"), rest = make(body, "tbody");
      [...axes.map(a => a.words), ...statistics.map(s => s.title)].forEach((title, k) => {
        const sorted = state.sort === k, th = make(head, "th", { "aria-sort": sorted ? state.down ? "descending" : "ascending" : "none", ...(k < axes.length ? {} : { class: "num" }) });
        const button = make(th, "button", { type: "button" }, title + (sorted ? state.down ? " ▼" : " ▲" : ""));
        button.addEventListener("click", () => { state.down = state.sort === k && !state.down; state.sort = k; fill(); });
      });
      const some = state.all ? shown : shown.slice(0, FIRST);
      for (const i of some) {
        const tr = make(rest, "tr", base && base[i] === i ? { class: "base" } : {});
        for (const axis of axes) make(tr, "td", {}, axis.texts[axis.at[i]]);
        for (const s of statistics) {
          const found = cell(s, i, base), unit = base && s.unit === "%" ? "pp" : s.unit;
          if (base && base[i] === i) { make(tr, "td", { class: "num muted" }, "baseline"); continue; }
          if (found == null) { make(tr, "td", { class: "num" }, "n/a"); continue; }
          const [mean, low, high] = found, apart = base && low != null && (low > 0 || high < 0);
          const td = make(tr, "td", { class: apart ? "num apart" : "num" }, (base && mean > 0 ? "+" : "") + show(mean, unit));
          const [l, h] = [show(low, unit), show(high, unit)];
          if (low != null && l !== h) make(td, "span", { class: "range" }, `${l} to\u00a0${h}`);
        }
      }
      const filtered = shown.length < rows.length ? `${digits(shown.length, 9)} of ${digits(rows.length, 9)} variants` : rows.length === 1 ? "1 variant" : `${digits(rows.length, 9)} variants`;
      const against = base ? `; differences between runs with the same seed, ${data.seeds > 1 ? "bold where the 95 % interval is without 0" : "one run each"}` : data.note ? `; ${data.note}` : "";
      count.textContent = `${filtered}${against}${data.limit && base ? "; " + data.limit : ""}.`;
      more.hidden = some.length === shown.length;
      more.textContent = `show all ${digits(shown.length, 9)} rows`;
    }
    addEventListener("beforeprint", () => { state.all ||= names.length <= PRINTED; fill(); });
    fill();
  }
  for (const place of document.querySelectorAll(".variants")) table(place, JSON.parse(place.querySelector("script").textContent));
})();
