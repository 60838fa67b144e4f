"use strict";
(() => {
  const root = document.documentElement;
  const dark = () => root.dataset.scheme ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const payload = JSON.parse(document.getElementById("series").textContent || "[]");
  const STROKES = { "--": [5, 4], ":": [1.5, 3], "-.": [6, 3, 1.5, 3] };
  let charts = [];
  const number = v => v == null ? "" : Math.abs(v) >= 1000 ? v.toFixed(0) : String(+v.toPrecision(4));
  function build() {
    charts.forEach(c => c.destroy());
    const sync = uPlot.sync("time");
    charts = payload.map((panel, i) => {
      const place = document.getElementById("chart-" + i);
      const axis = { stroke: css("--muted"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 }, font: "12px " + css("--figure-font") };
      const series = panel.series.map(s => ({
        label: s.name, stroke: css(s.color.slice(4, -1)), width: 1.4, dash: STROKES[s.stroke],
        paths: s.step ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: false }, spanGaps: false,
        value: (_, v) => number(v),
      }));
      return new uPlot({
        width: place.clientWidth, height: panel.height || 200,
        scales: { x: { time: false }, y: { range: (_, lo, hi) => [Math.min(0, lo), hi > 0 ? hi * 1.06 : 1] } },
        cursor: { sync: { key: sync.key }, drag: { x: true, y: false }, points: { size: 6 } },
        axes: [{ ...axis, size: i === payload.length - 1 ? 48 : 28, label: i === payload.length - 1 ? panel.x_label : undefined, labelSize: 20, labelFont: axis.font }, { ...axis, size: 58 }],
        series: [{ label: panel.x_label, value: (_, v) => number(v) }, ...series],
      }, [panel.x, ...panel.series.map(s => s.y)], place);
    });
  }
  const sketches = [...document.querySelectorAll(".sketch")].map(place => live(place, JSON.parse(place.textContent)));
  let seen = 0;
  function drawAll() {
    if (seen === innerWidth) return;
    seen = innerWidth;
    for (const draw of sketches) draw();
  }
  const button = document.getElementById("scheme");
  const name = () => { button.textContent = dark() ? "light" : "dark"; };
  button.addEventListener("click", () => { root.dataset.scheme = dark() ? "light" : "dark"; name(); if (payload.length) build(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); if (payload.length) build(); });
  addEventListener("resize", drawAll);
  addEventListener("resize", () => charts.forEach((c, i) => c.setSize({ width: document.getElementById("chart-" + i).clientWidth, height: c.height })));
  name();
  drawAll();
  if (payload.length) build();
})();
