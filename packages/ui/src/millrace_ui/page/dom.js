// Elements of the page, and the parts that several views have.
import { sentences } from "./metrics.js";
import { texts } from "./texts.js";

export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function section(title, ...children) {
  return element("section", {}, element("h2", {}, title), ...children);
}

export function empty(text) {
  return element("p", { class: "empty" }, text);
}

export function problem(text) {
  return element("p", { class: "error", role: "alert" }, text);
}

// The command that prints the same, so that what is seen here can be had in a terminal, and the data as JSON
export function command(text, data = null) {
  return element("p", { class: "command" }, `${texts.command} `, element("code", {}, text), ...(data ? [" · ", link(data, texts.data)] : []));
}

export function link(href, text, id = null) {
  return element("a", { href, id }, text);
}

export function state(name) {
  return element("span", { class: `state ${name}` }, texts.states[name] ?? name);
}

// The name of a metric, with the sentence that declares it for whoever points at it
export function metricName(key, name) {
  return sentences[key] ? element("span", { class: "metric", title: sentences[key] }, name) : name;
}

export function trendOf(query) {
  if (query.lagTrend === null || query.state !== "running") return null;
  const change = Math.abs(query.lagTrend) < 0.5 ? "steady" : query.lagTrend > 0 ? "rising" : "falling";
  const sign = { steady: "→", rising: "↗", falling: "↘" }[change];
  return element("small", { class: change }, `${sign} ${texts[change]}`);
}

// Rows that become cards where the page is narrow; names are the headings of columns
export function cards(names, rows, label) {
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((cells) => Array.isArray(cells)
    ? element("tr", {}, ...cells.map((content, at) => (at === 0
      ? element("th", { scope: "row" }, ...[content].flat())
      : element("td", { "data-name": names[at] }, ...[content].flat()))))
    : cells);
  return element("table", { class: "cards", "aria-label": label }, element("thead", {}, head), element("tbody", {}, ...body));
}

// Rows as wide as they are; the table scrolls where the page is narrower
export function wide(names, rows, label) {
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((row) => element("tr", {}, ...row.map((value) => element("td", {}, cellText(value)))));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

export function cellText(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? JSON.stringify(value) : `${value}`;
}

export function figures(pairs) {
  return element("dl", { class: "figures" }, ...pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

export function foldable(title, id, ...children) {
  return element("details", { id }, element("summary", {}, title), ...children);
}

export function code(text) {
  return element("pre", { tabindex: "0" }, element("code", {}, text));
}

// The answer of the driver; an error with its sentence where it has one
export async function fetched(path) {
  const answer = await fetch(path);
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `${answer.status}`);
  return content;
}
