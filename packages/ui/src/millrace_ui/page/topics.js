// All topics, and one with its messages.
import { cards, command, element, empty, fetched, figures, foldable, link, problem, section, wide } from "./dom.js";
import { count, duration, size, texts } from "./texts.js";

const MAX_ROWS = 500;
const FILTERS = ["format", "where", "columns", "registry", "count"];

export async function topicsView(facts) {
  const title = element("h1", {}, texts.views.topics);
  if (!facts.servers) return [title, empty(texts.noCluster)];
  const { topics, bytesUnknown } = await fetched("api/topics");
  if (!topics.length) return [title, empty(texts.noTopics), command(texts.commands.topics(facts.servers))];
  const rows = topics.map((topic) => [
    link(`#/topic/${encodeURIComponent(topic.name)}`, topic.name, `topic-${topic.name}`),
    count(topic.partitions), count(topic.offsets), bytesOf(topic), retention(topic), topic.cleanupPolicy ?? "–",
  ]);
  return [
    title, unknownBytes(bytesUnknown), cards(Object.values(texts.topicColumns), rows, texts.views.topics),
    command(texts.commands.topics(facts.servers), "api/topics"), command(texts.commands.allOffsets(facts.servers)), command(texts.commands.bytes(facts.servers)),
  ];
}

function bytesOf(topic) {
  return topic.bytes === null ? "–" : size(topic.bytes);
}

function unknownBytes(reason) {
  return reason ? element("p", { class: "notes" }, `${texts.bytesUnknown} ${reason}`) : null;
}

// A topic always has a policy, unless its settings may not be seen
function retention(topic) {
  if (topic.cleanupPolicy === null) return "–";
  return topic.retentionMs === null ? texts.forever : duration(topic.retentionMs);
}

// A topic's page stays as it is until another address is shown: its tail goes on by itself
export async function topicView(name, query, facts, signal) {
  document.title = `${name} – millrace`;
  const path = `api/topics/${encodeURIComponent(name)}`;
  const topic = await fetched(path);
  const asked = new URLSearchParams(query);
  return [
    element("p", {}, link("#/topics", `← ${texts.allTopics}`, "back")),
    element("h1", {}, name),
    figures([[texts.topicColumns.partitions, count(topic.partitions)], [texts.topicColumns.offsets, count(topic.offsets)], [texts.topicColumns.bytes, bytesOf(topic)], [texts.topicColumns.retention, retention(topic)], [texts.groups, count(topic.groups.length)]]),
    unknownBytes(topic.bytesUnknown),
    command(texts.commands.bytes(facts.servers), path),
    messagesSection(name, path, asked, topic, facts, signal),
    groupsSection(topic, path, facts),
    section(texts.partitions, wide(Object.values(texts.rangeColumns), topic.ranges.map((one) => [one.partition, one.begin, one.end, one.offsets]), texts.partitions), command(texts.commands.offsets(facts.servers, name), path)),
    foldable(texts.settings, "settings", wide(Object.values(texts.settingColumns), Object.entries(topic.settings), texts.settings), command(texts.commands.settings(facts.servers, name), path)),
  ];
}

function groupsSection(topic, path, facts) {
  const left = topic.groupsLeftOut ? empty(`${topic.groupsLeftOut} ${texts.groupsLeftOut}`) : null;
  if (!topic.groups.length) return section(texts.groups, empty(texts.noGroups), left);
  const rows = topic.groups.map((group) => [
    group.group, element("strong", {}, count(group.lag)),
    group.partitions.filter((one) => one.lag).slice(0, 8).map((one) => `${one.partition}: ${count(one.lag)}`).join(", ") || texts.caughtUp,
  ]);
  return section(texts.groups, cards(Object.values(texts.groupColumns), rows, texts.groups), left, command(texts.commands.groups(facts.servers), path));
}

function messagesSection(name, path, asked, topic, facts, signal) {
  const form = filterForm(name, asked);
  const summary = element("p", { role: "status" }, texts.loading);
  const shown = element("div");
  const wanted = new URLSearchParams([...asked].filter(([key, value]) => FILTERS.includes(key) && value));
  const table = new MessageTable(shown);
  load(`${path}/messages?${wanted}`, summary, table, topic);
  if (asked.get("live")) follow(`${path}/tail?${wanted}`, summary, table, signal);
  return section(texts.messages, facts.showsPayloads ? null : empty(texts.payloadsOff), form, summary, shown, command(texts.commands.peek(facts.servers, name, asked), `${path}/messages?${wanted}`));
}

function filterForm(name, asked) {
  const field = (key, attributes) => element("label", {}, texts.filters[key], element("input", { name: key, id: `filter-${key}`, value: asked.get(key) ?? "", ...attributes }));
  const live = element("input", { type: "checkbox", name: "live", id: "filter-live", value: "1" });
  live.checked = Boolean(asked.get("live"));
  const form = element("form", { class: "filters" },
    field("format", { placeholder: texts.guessed }), field("where", { placeholder: texts.examples.where }),
    field("columns", { placeholder: texts.examples.columns }), field("registry", { placeholder: texts.examples.registry }),
    field("count", { type: "number", min: 1, max: MAX_ROWS, placeholder: texts.examples.count }),
    element("label", { class: "check" }, live, texts.filters.live), element("button", { type: "submit" }, texts.show));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const filled = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    location.hash = `#/topic/${encodeURIComponent(name)}${filled.size ? `?${filled}` : ""}`;
  });
  return form;
}

async function load(path, summary, table, topic) {
  try {
    const found = await fetched(path);
    table.replace(found);
    const average = found.received ? found.bytes / found.received : 0;
    const about = average ? ` · ${texts.about} ${size(average * topic.offsets)}` : "";
    const malformed = found.malformed ? ` · ${count(found.malformed)} ${texts.malformedHere}` : "";
    summary.textContent = `${[...found.notes, `${count(found.rows.length)} ${texts.newest}`].join(" · ")}${malformed}${about}`;
  } catch (error) {
    summary.replaceChildren(problem(error.message));
  }
}

function follow(path, summary, table, signal) {
  const events = new EventSource(path);
  signal.addEventListener("abort", () => events.close());
  events.addEventListener("messages", (event) => table.add(JSON.parse(event.data)));
  events.onerror = () => { if (events.readyState === EventSource.CLOSED) summary.append(` · ${texts.tailEnded}`); };
}

// The newest rows first; those of a tail come on top
class MessageTable {
  constructor(place) {
    this.place = place;
    this.columns = [];
    this.rows = [];
  }

  replace(found) {
    this.columns = found.columns;
    this.rows = found.rows.map((row) => Object.fromEntries(row.map((value, at) => [found.columns[at], value])));
    this.reasons = found.malformedReasons;
    this.draw();
  }

  add(found) {
    this.columns = [...this.columns, ...found.columns.filter((name) => !this.columns.includes(name))];
    const rows = found.rows.map((row) => Object.fromEntries(row.map((value, at) => [found.columns[at], value])));
    this.rows = [...rows, ...this.rows].slice(0, MAX_ROWS);
    this.reasons = [...found.malformedReasons, ...(this.reasons ?? [])].slice(0, 20);
    this.draw();
  }

  draw() {
    const rows = this.rows.map((row) => this.columns.map((name) => row[name]));
    const reasons = this.reasons?.length ? section(texts.malformedReasons, element("ul", { class: "reasons" }, ...this.reasons.map((reason) => element("li", {}, reason)))) : null;
    this.place.replaceChildren(...[rows.length ? wide(this.columns, rows, texts.messages) : empty(texts.noMessages), reasons].filter(Boolean));
  }
}
