// All queries in short.
import { cards, command, element, empty, link, state } from "./dom.js";
import { sparkline } from "./charts.js";
import { count, duration, texts } from "./texts.js";

export function queriesView(queries, facts) {
  const title = element("h1", {}, texts.views.queries);
  if (!facts.hasSession) return [title, empty(texts.noSession)];
  if (!queries.length) return [title, empty(texts.noQueries)];
  const names = Object.values(texts.columns);
  const rows = queries.flatMap((query) => {
    const cells = [
      [link(`#/query/${query.id}`, query.name, `open-${query.id}`), element("small", {}, query.topics.join(", "))],
      state(query.state),
      [element("strong", {}, count(query.lag)), trendOf(query)],
      sparkline(query.trend, `${texts.lag}: ${query.name}`),
      `${count(query.rowsIn)}/s`,
      `${count(query.rowsOut)}/s`,
      duration(query.ageMs),
      duration(query.durationMs),
    ];
    return query.error ? [cells, element("tr", { class: "error" }, element("td", { colspan: names.length }, query.error))] : [cells];
  });
  return [title, cards(names, rows, texts.views.queries), command(texts.commands.queries), link("api/queries", texts.data)];
}

function trendOf(query) {
  if (query.lagTrend === null || query.state !== "running") return null;
  const change = Math.abs(query.lagTrend) < 0.5 ? "steady" : query.lagTrend > 0 ? "rising" : "falling";
  const sign = { steady: "→", rising: "↗", falling: "↘" }[change];
  return element("small", { class: change }, `${sign} ${texts[change]}`);
}
