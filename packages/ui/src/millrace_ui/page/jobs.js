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
  const [names, row] = job.kind === "sql" ? [texts.sqlTableColumns, sqlRow] : [texts.tableColumns, pipelineRow];
  return cards(Object.values(names), job.tables.map(row), texts.tables);
}

function sqlRow(table) {
  return [table.name, count(table.recordsRead), count(table.lag), count(table.schema_version)];
}

function pipelineRow(table) {
  const paused = () => [state("paused"), " ", element("small", {}, `${table.paused} (${count(table.collected)} ${texts.collected})`)];
  return [table.name, count(table.changes), duration(table.age_ms), count(table.schema_version), table.paused === null ? state("running") : paused()];
}
