// How the search of the book orders its hits: a page whose title has the words of the question comes first. The other numbers are
// those of Sphinx.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([, title, , , score]) => {
    const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const asked = words(new URLSearchParams(location.search).get("q") ?? "");
    const there = new Set(words(title));
    return score + (30 * asked.filter((word) => there.has(word)).length) / Math.max(asked.length, 1);
  },
};
