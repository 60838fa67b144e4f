"use strict";
(() => {
  const root = document.documentElement;
  const dark = () => root.dataset.scheme ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const sketches = [...document.querySelectorAll(".sketch")].map(place => live(place, JSON.parse(place.textContent)));
  let seen = 0;
  function drawAll() {
    if (seen === innerWidth) return;
    seen = innerWidth;
    for (const draw of sketches) draw();
  }
  const button = document.getElementById("scheme");
  const name = () => { button.textContent = dark() ? "light" : "dark"; };
  button.addEventListener("click", () => { root.dataset.scheme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  addEventListener("resize", drawAll);
  name();
  drawAll();
})();
