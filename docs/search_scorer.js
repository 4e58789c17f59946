// Sphinx's scores, but for the order of kinds of results: what the query names, then guides, then pages for contributors
const GUIDE = /^(README|docs\/[^/]+)$/;
const ASKED = (new URLSearchParams(window.location.search).get("q") || "").trim();
const IS_IDENTIFIER = /[_.]|[a-z][A-Z]/.test(ASKED);

function bonus(page, title, kind) {
  if (kind === "object") return IS_IDENTIFIER ? 40 : 0;
  const guide = GUIDE.test(page) ? 20 : 0;
  if (kind === "title") return guide + 10;
  return title.toLowerCase().includes(ASKED.toLowerCase()) ? guide + 15 : guide;
}

var Scorer = {
  score: ([page, title, , , score, , kind]) => score + bonus(page, title, kind),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
