// The page: all queries, or one of them, as the address says. The driver sends what has changed.
import { clock, count, duration, texts } from "./texts.js";
import { element, heatStrip, legend, lineChart, sparkline, stackedBars } from "./charts.js";

const view = document.getElementById("view");
const connection = document.getElementById("connection");
let queries = null;
let painting = false;

const events = new EventSource("events");
events.addEventListener("queries", (event) => { queries = JSON.parse(event.data); paint(); });
events.onopen = () => { connection.textContent = texts.connected; connection.className = "good"; };
events.onerror = () => { connection.textContent = texts.disconnected; connection.className = "bad"; };
window.addEventListener("hashchange", () => { view.replaceChildren(); paint().then(() => view.focus()); });

async function paint() {
  const id = location.hash.match(/^#\/query\/(.+)$/)?.[1];
  if (id === undefined) {
    document.title = "millrace";
    if (queries !== null) show(queriesView());
    return;
  }
  if (painting) return;
  painting = true;
  try {
    const answer = await fetch(`api/queries/${id}`);
    show(answer.ok ? queryView(await answer.json()) : [backLink(), element("p", { class: "empty" }, texts.unknownQuery)]);
  } catch {
    // The connection's sign says it
  } finally {
    painting = false;
  }
}

function show(children) {
  const focused = document.activeElement?.id;
  view.replaceChildren(...children.filter((child) => child !== null));
  if (focused) document.getElementById(focused)?.focus();
}

function queriesView() {
  if (!queries.length) return [element("p", { class: "empty" }, texts.noQueries)];
  const names = texts.columns;
  const head = element("tr", {}, ...Object.values(names).map((name) => element("th", { scope: "col" }, name)));
  const rows = queries.flatMap((query) => {
    const cells = [
      element("th", { scope: "row" }, element("a", { href: `#/query/${query.id}`, id: `open-${query.id}` }, query.name), element("small", {}, query.topics.join(", "))),
      cell(names.state, stateOf(query)),
      cell(names.lag, element("strong", {}, count(query.lag)), trendOf(query)),
      cell(names.trend, sparkline(query.trend, `${texts.lag}: ${query.name}`)),
      cell(names.rowsIn, `${count(query.rowsIn)}/s`),
      cell(names.rowsOut, `${count(query.rowsOut)}/s`),
      cell(names.ageMs, duration(query.ageMs)),
      cell(names.durationMs, duration(query.durationMs)),
    ];
    const row = element("tr", {}, ...cells);
    return query.error ? [row, element("tr", { class: "error" }, element("td", { colspan: "8" }, query.error))] : [row];
  });
  return [element("table", { class: "queries" }, element("thead", {}, head), element("tbody", {}, ...rows))];
}

function cell(name, ...children) {
  return element("td", { "data-name": name }, ...children);
}

function stateOf(query) {
  return element("span", { class: `state ${query.state}` }, texts.states[query.state]);
}

function trendOf(query) {
  if (query.lagTrend === null || query.state !== "running") return null;
  const change = Math.abs(query.lagTrend) < 0.5 ? texts.steady : query.lagTrend > 0 ? texts.rising : texts.falling;
  const sign = { [texts.steady]: "→", [texts.rising]: "↗", [texts.falling]: "↘" }[change];
  return element("small", { class: change }, `${sign} ${change}`);
}

function backLink() {
  return element("p", {}, element("a", { href: "#/", id: "back" }, `← ${texts.back}`));
}

function queryView(query) {
  document.title = `${query.name} – millrace`;
  const phases = Object.keys(texts.phaseNames);
  const recent = query.samples.slice(-120);
  const notes = [
    query.malformed ? `${count(query.malformed)} ${texts.malformed}` : null,
    query.openTransactions ? `${count(query.openTransactions)} ${texts.openTransactions}` : null,
  ].filter(Boolean);
  return [
    backLink(),
    element("h1", {}, query.name, " ", stateOf(query)),
    query.error ? element("p", { class: "error" }, query.error) : null,
    element("dl", { class: "figures" }, ...figures(query)),
    notes.length ? element("p", { class: "notes" }, notes.join(" · ")) : null,
    ...(query.samples.length ? charts(query, recent, phases) : [element("p", { class: "empty" }, texts.waiting)]),
    query.sink ? section(texts.sink, table([query.sink])) : null,
    query.partitions.length ? section(texts.table, table(query.partitions.slice(0, 200))) : null,
    element("p", {}, element("a", { href: `api/queries/${query.id}` }, texts.data), " · ", element("code", {}, texts.whyHint)),
  ];
}

function figures(query) {
  const names = texts.columns;
  const pairs = [
    [names.lag, count(query.lag)], [names.rowsIn, `${count(query.rowsIn)}/s`], [names.rowsOut, `${count(query.rowsOut)}/s`],
    [names.ageMs, duration(query.ageMs)], [names.durationMs, duration(query.durationMs)],
  ];
  return pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

function charts(query, recent, phases) {
  const total = { name: texts.columns.lag, points: recent.filter((one) => one.lag !== null).map((one) => [one.time, one.lag]) };
  const lines = query.lines.length > 1 ? query.lines : [total];
  const rates = [
    { name: texts.columns.rowsIn, points: recent.map((one) => [one.time, one.rowsIn]) },
    { name: texts.columns.rowsOut, points: recent.map((one) => [one.time, one.rowsOut]) },
  ];
  return [
    query.lag === null
      ? section(texts.lag, element("p", { class: "empty" }, texts.lagNone))
      : section(texts.lag, lineChart(lines, texts.lag, count, clock), legend(lines.map(({ name }) => name))),
    query.partitions.length > 1 ? section(texts.partitions, heatStrip(query.partitions, texts.partitions, count)) : null,
    section(texts.phases, stackedBars(recent, phases, texts.phases, duration, clock), legend(Object.values(texts.phaseNames))),
    section(texts.rates, lineChart(rates, texts.rates, count, clock), legend(rates.map(({ name }) => name))),
  ];
}

function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

function table(rows) {
  const names = Object.keys(rows[0]);
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((row) => element("tr", {}, ...names.map((name) => element("td", {}, `${row[name] ?? "–"}`))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": texts.table }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}
