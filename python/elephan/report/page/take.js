"use strict";
// What a reader takes away: a table sorted by a column or as CSV, a figure as SVG.
const take = (() => {
  const own = cell => (cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild : cell).textContent.trim();
  const EMPTY = new Set(["", "n/a", "-", "\u2013"]);

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

  // What a cell holds, as elephan.report.page.page.Cell says it: words, words below them, and numbers in base units by what each is.
  function held(cell) {
    const text = own(cell), more = cell.querySelector(".more")?.textContent.trim() ?? "";
    return { text, more, numbers: cell.dataset.numbers ? JSON.parse(cell.dataset.numbers) : {}, unit: cell.dataset.unit ?? "" };
  }

  function sort(table, column, head) {
    const rows = [...table.rows].slice(1), down = head.getAttribute("aria-sort") === "ascending";
    const keys = new Map(rows.map(row => { const { text, numbers } = held(row.cells[column]); return [row, [text, Object.values(numbers)[0] ?? null]]; }));
    const numeric = rows.some(row => keys.get(row)[1] !== null);
    const compare = (a, b) => {
      const [[x, p], [y, q]] = [keys.get(a), keys.get(b)];
      if (!numeric) return x.localeCompare(y, undefined, { numeric: true }) * (down ? -1 : 1);
      return p === null || q === null ? (p === null) - (q === null) : (p - q) * (down ? -1 : 1); // what has no number stands last
    };
    for (const other of table.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.sort(compare).forEach(row => row.parentNode.append(row));
  }

  // A column of a table as columns of a file: one for each kind of number, with its unit in the head, and one for words.
  // Where the rows have several units, these stand in a column of their own.
  function columns({ title, cells, numeric }) {
    const kinds = [...new Set(cells.flatMap(cell => Object.keys(cell.numbers)))], units = [...new Set(cells.map(cell => cell.unit).filter(Boolean))];
    const plain = text => text.replace(/[\u00a0\u202f]/g, " "), name = (...parts) => parts.filter(Boolean).join(" ");
    if (!kinds.length && !numeric) {
      const found = [[title, ...cells.map(cell => plain(cell.text))]];
      return cells.some(cell => cell.more) ? [...found, [name(title, "note"), ...cells.map(cell => plain(cell.more))]] : found;
    }
    // A kind such as "ratio (1)" has its own unit.
    if (!kinds.length) kinds.push("");
    const found = kinds.map(kind => [name(title, kind, units.length === 1 && !kind.endsWith(")") && `(${units[0]})`), ...cells.map(cell => cell.numbers[kind] ?? "")]);
    if (units.length > 1) found.push([name(title, "unit"), ...cells.map(cell => cell.unit)]);
    const said = cell => Object.keys(cell.numbers).length || EMPTY.has(cell.text) ? "" : cell.text; // words where others have numbers
    const notes = cells.map(cell => plain([said(cell), cell.more].filter(Boolean).join("; ")));
    return notes.some(Boolean) ? [...found, [name(title, "note"), ...notes]] : found;
  }

  const quoted = value => { const text = String(value); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
  // Columns, each `{ title, cells }`, as the text of a file.
  function csv(table) {
    const found = table.flatMap(columns);
    return found[0].map((_, row) => found.map(column => quoted(column[row])).join(",") + "\n").join("");
  }
  const give = (name, columns) => button("CSV", "this table as CSV", () => save(`${name()}.csv`, "text/csv", csv(columns())));

  const taken = new Map();
  document.querySelectorAll("section > .scroll > table").forEach(table => {
    const heads = [...table.rows[0].cells], titles = heads.map(head => head.textContent.trim());
    const count = (taken.get(table.dataset.name) ?? 0) + 1, name = table.dataset.name + (count > 1 ? `-${count}` : "");
    taken.set(table.dataset.name, count);
    if (table.rows.length > 2) heads.forEach((head, column) => {
      const by = button(head.textContent, `sort by ${head.textContent}`, () => sort(table, column, head));
      by.className = "sort";
      head.replaceChildren(by);
    });
    const body = () => heads.map((head, k) => ({ title: titles[k] || "row", numeric: head.classList.contains("num"), cells: [...table.rows].slice(1).map(row => held(row.cells[k])) }));
    if (table.rows.length > 1) table.parentNode.after(give(() => name, body));
  });

  const claims = document.getElementById("claims");
  claims?.append(give(() => "claims", () => {
    const parts = [...claims.querySelectorAll("article")].flatMap(claim => [...claim.querySelectorAll("tr")].map(row => ({ claim, row })));
    const column = (title, cell) => ({ title, cells: parts.map(cell) }), words = text => ({ text: text.trim(), more: "", numbers: {}, unit: "" });
    return [
      column("claim", ({ claim }) => words(claim.querySelector(".head b").textContent)),
      column("compared", ({ row }) => words(row.cells[0].textContent)),
      column("expected", ({ row }) => words(row.cells[1].textContent)),
      column("observed", ({ row }) => held(row.cells[2])),
      column("verdict", ({ row }) => words(row.cells[3].dataset.verdict)),
    ];
  }));

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
  return { give };
})();
