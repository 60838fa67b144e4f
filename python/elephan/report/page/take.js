"use strict";
// What a reader takes away: a table sorted by a column or as CSV, a figure as SVG.
(() => {
  const PREFIX = { T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1, m: 1e-3, "µ": 1e-6, n: 1e-9, p: 1e-12 };
  const NUMBER = /^(?:about |[<>≤≥+] ?)?(-?[\d\u202f]+(?:\.\d+)?(?:e[-+]?\d+)?)[\s\u00a0]*(?:([TGMkmµnp]?)(?:b\/s|B|s))?/;
  const own = cell => (cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild : cell).textContent.trim();

  // The number that a cell begins with, in base units, as elephan.base.quantity.show writes it.
  function number(text) {
    const found = NUMBER.exec(text);
    return found ? Number(found[1].replaceAll("\u202f", "")) * PREFIX[found[2] ?? ""] : null;
  }

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function button(text, label, work) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "take";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", work);
    return made;
  }

  function sort(table, column, head) {
    const rows = [...table.rows].slice(1), down = head.getAttribute("aria-sort") === "ascending";
    const keys = new Map(rows.map(row => [row, own(row.cells[column])])), numeric = rows.some(row => number(keys.get(row)) !== null);
    const compare = (a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)], [p, q] = [number(x), number(y)];
      if (!numeric) return x.localeCompare(y, undefined, { numeric: true }) * (down ? -1 : 1);
      return p === null || q === null ? (p === null) - (q === null) : (p - q) * (down ? -1 : 1); // what has no number stands last
    };
    for (const other of table.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort(compare).forEach(row => row.parentNode.append(row));
  }

  const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const csv = table => [...table.rows].map(row => [...row.cells].map(cell => quoted([...cell.childNodes].map(node => node.textContent.trim()).filter(Boolean).join(" "))).join(",")).join("\n") + "\n";

  document.querySelectorAll("section > .scroll > table").forEach((table, i) => {
    if (table.rows.length < 3) return;
    [...table.rows[0].cells].forEach((head, column) => {
      const name = button(head.textContent, `sort by ${head.textContent}`, () => sort(table, column, head));
      name.className = "sort";
      head.replaceChildren(name);
    });
    table.parentNode.after(button("CSV", "this table as CSV", () => save(`table-${i + 1}.csv`, "text/csv", csv(table))));
  });

  // As on white paper: the colours of the light page stand in the file itself.
  function svg(place) {
    const root = document.documentElement, before = root.dataset.scheme;
    root.dataset.scheme = "light";
    const style = getComputedStyle(root), drawing = place.querySelector("svg").cloneNode(true);
    drawing.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    drawing.setAttribute("font-family", style.getPropertyValue("--figure-font").trim().replaceAll('"', "'"));
    const text = drawing.outerHTML.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    if (before === undefined) delete root.dataset.scheme; else root.dataset.scheme = before;
    return text;
  }
  document.querySelectorAll("figure").forEach(figure => {
    const name = figure.id.replace("figure-", ""), place = figure.querySelector(".sketch");
    figure.querySelector("figcaption").append(" ", button("SVG", `the figure ${name} as SVG`, () => save(`${name}.svg`, "image/svg+xml", svg(place))));
  });
})();
