// Pipelines and SQL statements.
import { cards, code, command, element, empty, fetched, figures, foldable, link, section, state } from "./dom.js";
import { count, duration, texts } from "./texts.js";

export async function jobsView() {
  const jobs = await fetched("api/jobs");
  const title = element("h1", {}, texts.views.jobs);
  if (!jobs.length) return [title, empty(texts.noJobs)];
  return [title, ...jobs.map(jobSection)];
}

function jobSection(job) {
  const heading = element("h2", {}, `${texts.jobKinds[job.kind]} `, link(`#/query/${job.queries[0]}`, job.name, `job-${job.queries[0]}`), " ", state(job.state));
  const rows = [[texts.columns.lag, count(job.lag)], [texts.rowsRead, count(job.rowsRead)], [texts.rowsWritten, count(job.rowsWritten)]];
  const numbers = job.kind === "pipeline" ? [...rows, [texts.schemaChanges, count(job.schemaChanges)], [texts.malformed, count(job.malformed)]] : rows;
  return element("section", {}, heading, figures(numbers), tablesOf(job),
    job.statement ? code(job.statement) : null,
    job.plan ? foldable(texts.plan, `plan-of-${job.queries[0]}`, code(job.plan)) : null,
    command(texts.commands[job.kind], "api/jobs"));
}

function tablesOf(job) {
  if (!job.tables.length) return empty(texts.noTables);
  if (job.kind === "sql") return element("p", {}, `${texts.tables}: ${job.tables.map(nameOf).join(", ")}`);
  const rows = job.tables.map((table) => [
    table.name, count(table.changes), duration(table.age_ms), count(table.schema_version),
    table.paused === null ? state("running") : [state("paused"), " ", element("small", {}, `${table.paused} (${count(table.collected)} ${texts.collected})`)],
  ]);
  return cards(Object.values(texts.tableColumns), rows, texts.tables);
}

function nameOf(table) {
  return table.schema_version === null ? table.name : `${table.name} (${texts.tableColumns.version.toLowerCase()} ${count(table.schema_version)})`;
}
