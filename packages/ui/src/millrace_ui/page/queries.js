// All queries in short.
import { cards, command, element, empty, link, state, trendOf } from "./dom.js";
import { sparkline } from "./charts.js";
import { count, duration, texts } from "./texts.js";

export function queriesView(queries, facts) {
  const title = element("h1", {}, texts.views.queries);
  if (!facts.hasSession) return [title, empty(texts.noSession)];
  if (!queries.length) return [title, empty(texts.noQueries)];
  const names = Object.values(texts.columns);
  const rows = queries.flatMap((query) => {
    const cells = [
      [link(address(query), query.name, `open-${query.id}`), element("small", {}, query.topics.join(", "))],
      state(query.state),
      [element("strong", {}, count(query.lag)), trendOf(query)],
      sparkline(query.trend, `${texts.lag}: ${query.name}`),
      `${count(query.rowsIn)}/s`,
      `${count(query.rowsOut)}/s`,
      duration(query.ageMs),
      duration(query.durationMs),
    ];
    if (query.error) return [cells, sentence("error", names.length, query.error)];
    return query.standstill ? [cells, sentence("notes", names.length, `${query.standstill}: `, link(address(query), texts.why, `why-${query.id}`))] : [cells];
  });
  return [title, cards(names, rows, texts.views.queries), command(texts.commands.queries, "api/queries")];
}

function address(query) {
  return `#/query/${query.id}`;
}

function sentence(style, columns, ...content) {
  return element("tr", { class: style }, element("td", { colspan: columns }, ...content));
}
