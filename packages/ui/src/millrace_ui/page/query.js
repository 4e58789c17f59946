// One query in full.
import { code, command, element, empty, fetched, figures, foldable, link, metricName, problem, section, state, wide } from "./dom.js";
import { heatStrip, legend, lineChart, stackedBars } from "./charts.js";
import { clock, count, duration, moment, texts } from "./texts.js";

// What is loaded on request stays as it is while the rest of the view is drawn again
const parts = new Map();

export async function queryView(id) {
  const path = `api/queries/${id}`;
  const query = await fetched(`${path}/charts`);
  document.title = `${query.name} – millrace`;
  return [
    element("p", {}, link("#/", `← ${texts.back}`, "back")),
    element("h1", {}, query.name, " ", state(query.state)),
    query.error ? problem(query.error) : null,
    figures(figuresOf(query)),
    command(texts.commands.query, path),
    ...notes(query),
    ...(query.samples.length ? charts(query, `${path}/charts`) : [empty(texts.waiting)]),
    part(`why-${id}`, () => whyPart(id), (made) => { if (query.error || query.standstill) made.load(); }),
    query.malformed ? part(`malformed-${id}`, () => malformedPart(id)) : null,
    sinkSection(query.sink, path),
    query.sink && transactionsOf(query.sink) ? part(`exactly-once-${id}`, () => exactlyOncePart(id)) : null,
    partitionsSection(query, path),
    query.pipeline ? pipelineSection(query.pipeline, path) : schemaSection(query, path),
    part(`plan-${id}`, () => planPart(id)),
  ];
}

function part(key, make, each = () => {}) {
  if (!parts.has(key)) parts.set(key, make());
  each(parts.get(key));
  return parts.get(key).node;
}

function figuresOf(query) {
  const names = texts.columns;
  return [
    [names.lag, count(query.lag)], [names.rowsIn, `${count(query.rowsIn)}/s`], [names.rowsOut, `${count(query.rowsOut)}/s`],
    [names.ageMs, duration(query.ageMs)], [names.durationMs, duration(query.durationMs)], [texts.malformed, count(query.malformed)],
  ];
}

function notes(query) {
  const topics = query.topics.map((topic) => link(`#/topic/${encodeURIComponent(topic)}`, topic));
  return [
    topics.length ? element("p", {}, `${texts.reads} `, ...topics.flatMap((one, at) => (at ? [", ", one] : [one]))) : null,
    query.standstill ? element("p", { class: "notes" }, query.standstill) : null,
    query.malformed ? element("p", { class: "notes" }, texts.malformedAdvice) : null,
    query.openTransactions ? element("p", { class: "notes" }, `${count(query.openTransactions)} ${texts.openTransactions}`) : null,
  ];
}

function charts(query, data) {
  const { samples } = query;
  const total = { name: texts.columns.lag, points: samples.filter((one) => one.lag !== null).map((one) => [one.time, one.lag]) };
  const lines = query.lines.length > 1 ? query.lines : [total];
  const rates = ["rowsIn", "rowsOut"].map((key) => ({ name: texts.columns[key], points: samples.map((one) => [one.time, one[key]]) }));
  const phases = Object.keys(texts.phaseNames);
  const last = samples.at(-1).phases;
  return [
    query.lag === null
      ? section(texts.lag, empty(texts.lagNone))
      : section(texts.lag, lineChart(lines, texts.lag, count, clock), legend(lines.map(({ name }) => name)), command(texts.commands.lag, data)),
    query.lags.length > 1 ? section(texts.heat, heatStrip(query.lags, texts.heat, count), command(texts.commands.lag, data)) : null,
    section(texts.phases, stackedBars(samples, phases, texts.phases, duration, clock, texts.microBatch),
      element("p", { class: "reading" }, texts.fromBelow), legend(phases.map((phase) => `${texts.phaseNames[phase]} ${duration(last[phase] ?? 0)}`), true), command(texts.commands.phases, data)),
    section(texts.rates, lineChart(rates, texts.rates, count, clock), legend(rates.map(({ name }) => name)), command(texts.commands.rates, data)),
  ];
}

function whyPart(id) {
  const content = element("div", { "aria-live": "polite" }, element("p", {}, texts.whyHint));
  const button = element("button", { type: "button", id: "ask-why" }, texts.ask);
  let asked = false;
  const load = async (again = false) => {
    if (asked && !again) return;
    asked = true;
    content.replaceChildren(element("p", {}, texts.loading));
    try {
      const { causes } = await fetched(`api/queries/${id}/why`);
      content.replaceChildren(...causes.map(causeOf));
    } catch (error) {
      content.replaceChildren(problem(error.message));
    }
  };
  button.addEventListener("click", () => load(true));
  return { node: section(texts.why, content, button, command(texts.commands.why, `api/queries/${id}/why`)), load };
}

function causeOf(cause) {
  const evidence = Object.entries(cause.evidence).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return element("div", { class: "cause" },
    element("p", {}, element("strong", {}, `${cause.kind}: `), cause.message),
    evidence.length ? element("small", {}, evidence.join(" · ")) : null,
    cause.remedy ? element("p", {}, `→ ${cause.remedy}`) : null);
}

function planPart(id) {
  const draw = (found) => [...found.parts.flatMap(optionsOf), found.parts.length ? "" : empty(texts.noOptions), element("h3", {}, texts.plan), code(found.plan)];
  return loadable(texts.planAndOptions, `plan-of-${id}`, `api/queries/${id}/plan`, draw, texts.commands.plan, empty(texts.noPlan));
}

// What was set comes first; the rest is folded away
function optionsOf(part) {
  const row = (option) => [option.name, option.value, option.detail ? `${option.origin} (${option.detail})` : option.origin];
  const given = part.options.filter((option) => option.origin !== "default");
  const others = part.options.filter((option) => option.origin === "default");
  const names = Object.values(texts.optionColumns);
  return [
    element("h3", {}, `${texts.options}: ${part.name}`),
    wide(names, given.map(row), `${texts.options}: ${part.name}`),
    others.length ? foldable(`${others.length} ${texts.defaults}`, null, wide(names, others.map(row), texts.defaults)) : "",
  ];
}

// Loads each time that it is opened, and again on request while it is
function loadable(title, id, path, draw, shown, failed = "") {
  const content = element("div", { "aria-live": "polite" });
  const node = foldable(title, id, content, command(shown, path));
  const load = async () => {
    if (!node.open) return;
    content.replaceChildren(element("p", {}, texts.loading));
    try {
      content.replaceChildren(...draw(await fetched(path)));
    } catch (error) {
      content.replaceChildren(failed, problem(error.message));
    }
  };
  node.addEventListener("toggle", load);
  return { node, load };
}

function exactlyOncePart(id) {
  const names = Object.entries(texts.ledgerColumns);
  const draw = (found) => [
    figures([[texts.prefix, found.prefix], [texts.tasks, count(found.tasks)]]),
    found.ledgers.length
      ? wide(names.map(([, name]) => name), found.ledgers.map(({ is_own: isOwn, written_at: writtenAt, ...ledger }) => {
        const shown = { ...ledger, is_own: texts.owners[isOwn], written_at: moment(writtenAt) };
        return names.map(([key]) => shown[key]);
      }), texts.ledgers)
      : empty(texts.noLedgers),
    found.open.length
      ? wide(Object.values(texts.openColumns), found.open.map((one) => [one.partition, count(one.records)]), texts.openInTopics)
      : element("p", {}, texts.noneOpen),
  ];
  return loadable(texts.exactlyOnceState, `exactly-once-of-${id}`, `api/queries/${id}/exactly-once`, draw, texts.commands.exactlyOnce);
}

function malformedPart(id) {
  const draw = (found) => (found.length ? found.flatMap(malformedOf) : [empty(texts.noMalformed)]);
  return loadable(texts.malformedReasons, `malformed-of-${id}`, `api/queries/${id}/malformed`, draw, texts.commands.malformed);
}

function malformedOf({ topic, letters, reasons, searched }) {
  const heading = element("h3", {}, link(`#/topic/${encodeURIComponent(topic)}`, topic));
  if (letters) return [heading, letters.rows.length ? wide(letters.columns, letters.rows, topic) : empty(texts.noMalformed)];
  const list = element("ul", { class: "reasons" }, ...reasons.map((reason) => element("li", {}, reason)));
  return [heading, element("p", {}, texts.amongNewest(count(searched))), reasons.length ? list : empty(texts.noMalformed)];
}

function transactionsOf(sink) {
  return ["transactionsCommitted", "transactionsSkipped", "transactionsAborted"].some((name) => sink[name]);
}

function sinkSection(sink, path) {
  if (!sink) return section(texts.sink, empty(texts.noSink));
  const exactlyOnce = transactionsOf(sink) ? texts.exactlyOnce : texts.noTransactions;
  const shown = Object.entries(texts.sinkFigures).map(([key, name]) => [metricName(key, name), key === "currentSendTime" ? duration(sink[key]) : count(sink[key])]);
  return section(texts.sink, figures(shown), element("p", {}, exactlyOnce), command(texts.commands.sink, path));
}

function partitionsSection(query, path) {
  if (!query.largest.length) return null;
  const names = Object.entries(texts.partitionColumns);
  const rows = query.largest.map((one) => [`${one.topic}-${one.partition}`, ...names.slice(1).map(([key]) => count(one[key]))]);
  const title = query.partitionCount > rows.length ? `${texts.partitions} (${rows.length} / ${query.partitionCount}, ${texts.largestLag})` : texts.partitions;
  return section(title, wide(names.map(([key, name]) => metricName(key, name)), rows, texts.partitions), command(texts.commands.lag, path));
}

function pipelineSection(pipeline, path) {
  const { name, version } = texts.tableColumns;
  const rows = pipeline.schemaVersions.map(([table, number]) => [table, count(number)]);
  return section(`${texts.schemaChanges}: ${count(pipeline.schemaChanges)}`,
    rows.length ? wide([name, version], rows, texts.schemaChanges) : empty(texts.noTables),
    element("p", {}, link("#/jobs", texts.views.jobs)), command(texts.commands.pipeline, path));
}

// Whose columns follow messages, and whose do not
function schemaSection(query, path) {
  if (!query.topics.length) return null;
  const { schema } = query;
  if (!schema) return section(texts.schema, empty(texts.noSchema), command(texts.commands.schema, path));
  const changes = part(`schema-${query.id}`, () => schemaPart(query.id), (made) => made.show(schema.version));
  return section(texts.schema,
    figures([[texts.tableColumns.name, schema.table], [texts.tableColumns.version, count(schema.version)], [texts.restarts, count(schema.restarts)]]),
    element("p", {}, schema.isStatic ? texts.schemaStatic : texts.schemaFollows), changes);
}

function schemaPart(id) {
  const names = Object.values(texts.schemaColumns);
  const row = (change) => [change.version, texts.schemaKinds[change.kind], change.columns.join(", "), change.cause];
  const draw = (found) => [wide(names, found.changes.map(row), texts.schemaChanges)];
  const { node, load } = loadable(texts.schemaChanges, `schema-of-${id}`, `api/queries/${id}/schema`, draw, texts.commands.schema);
  let shown = null;
  const show = (version) => {
    if (version !== shown) load();
    shown = version;
  };
  return { node, show };
}
