"use strict";
(() => {
  const PAPER = 760; // pixels of a figure on paper, however wide the screen is
  const TALL = 800; // pixels of a figure that is made to fit on a sheet
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
  // On paper nobody can open what is folded, except the parameters, which fill pages.
  let folded = [];
  addEventListener("beforeprint", () => {
    for (const draw of sketches) draw(PAPER);
    for (const figure of document.querySelectorAll("figure")) figure.classList.toggle("tall", figure.offsetHeight > TALL);
    folded = [...document.querySelectorAll("details.parts:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const draw of sketches) draw();
    for (const one of folded) one.open = false;
  });
  name();
  drawAll();
})();
