// Live figures: where the engine in WebAssembly is beside the book and a server gives the pages, a button opens it in the page.
// From file:// a browser loads no WebAssembly, and the words that stand there say how to open the scenario otherwise.
document.addEventListener("DOMContentLoaded", async () => {
  const places = document.querySelectorAll("p.live");
  if (!places.length || location.protocol === "file:") return;
  const root = document.documentElement.dataset.content_root ?? "./";
  const page = new URL(`${root}live/index.html`, location.href);
  const engine = new URL(`${root}live/wasm/elephan.wasm`, location.href);
  const there = await fetch(engine, { method: "HEAD" }).then((answer) => answer.ok, () => false);
  if (!there) return;
  for (const place of places) {
    const button = document.createElement("button");
    button.textContent = "Move it here";
    button.addEventListener("click", () => {
      const frame = document.createElement("iframe");
      frame.src = `${page.href}#${place.dataset.scenario}`;
      frame.title = "The scenario with sliders";
      place.replaceChildren(frame);
    });
    place.replaceChildren(button, " The scenario opens with sliders, and the engine runs in this page.");
  }
});
