// All texts of the page, and the forms of its numbers.
export const texts = {
  views: { queries: "Queries", jobs: "Pipelines and SQL", topics: "Topics", health: "Health" },
  connected: "live",
  disconnected: "no answer from the driver: it may have ended. Trying again…",
  loading: "Loading…",
  command: "In a terminal or program:",
  data: "data as JSON",
  states: { starting: "starting", running: "running", stopped: "stopped", failed: "failed", paused: "paused", ok: "ok", warning: "warning", error: "error", incomplete: "needs more" },

  noSession: "This page has no Spark session. Call millrace.ui(spark) in a program to see its queries; topics and health are here.",
  noQueries: "No query has started yet. Start one in this session, such as spark.readStream.format(\"millrace\")…start(), and it appears here.",
  back: "All queries",
  columns: { name: "Query", state: "State", lag: "Lag", trend: "Last minutes", rowsIn: "Rows in", rowsOut: "Rows out", ageMs: "Newest row", durationMs: "Micro-batch" },
  reads: "Reads",
  lag: "Lag over time, in records",
  lagNone: "This query has no source of millrace, so its lag is not known. Read its topics by spark.readStream.format(\"millrace\") to see it.",
  heat: "Lag of each partition now",
  phases: "Duration of micro-batches by phase",
  fromBelow: "From below, with the durations of the last micro-batch:",
  microBatch: (sample, total) => `${clock(sample.time)}, micro-batch ${sample.batch}: ${duration(total)} (${phasesOf(sample)})`,
  rates: "Rows per second",
  partitions: "Partitions",
  largestLag: "those with the largest lag",
  partitionColumns: { partition: "Partition", pendingRecords: "Lag", currentOffset: "Offset", committedOffset: "Committed", numRecordsIn: "Records", numRecordsInErrors: "Malformed", recordsSkipped: "Skipped" },
  sink: "Sink",
  sinkFigures: { numRecordsOut: "Records", numRecordsOutPerSecond: "Records/s", numBytesOut: "Bytes", numBytesOutPerSecond: "Bytes/s", currentSendTime: "Sending", transactionsCommitted: "Committed", transactionsSkipped: "Skipped", transactionsAborted: "Aborted", tasksFailed: "Failed tasks", numRecordsSendErrors: "Send errors", producers: "Producers" },
  noSink: "Nothing is known of its sink: it has written nothing yet, it is not one of millrace, or the query is older than this page. Restart the query to have it measured; if the driver runs on another machine, pass page.on_metrics to a SinkMetricsCollector that has the query's name.",
  exactlyOnce: "It writes exactly once: a transaction for each task.",
  exactlyOnceState: "Exactly-once state: prefix, ledgers, open transactions",
  prefix: "Prefix",
  tasks: "Tasks with a ledger",
  ledgers: "Ledgers",
  ledgerColumns: { task: "Task", transactional_id: "Transactional id", batch: "Micro-batch", rows: "Rows", written_at: "Written", is_own: "Query" },
  owners: { true: "this one", false: "another one" },
  noLedgers: "No task has committed a micro-batch yet. Open this again after the next one.",
  openInTopics: "Records behind open transactions",
  openColumns: { partition: "Partition", records: "Records behind open transactions" },
  noneOpen: "No transaction is open in the topics that it writes.",
  noTransactions: "No transaction so far: it writes at least once, or has written nothing yet.",
  schema: "Schema",
  noSchema: "Its columns stay those that it started with. To let columns of JSON follow the messages, start the query by millrace_catalog.restart_on_schema_change; their changes appear here then.",
  schemaFollows: "Its columns follow the messages: where new fields or wider types come, it is restarted with them.",
  schemaStatic: "Its columns stay those of version 1, as the catalog's schema.inference.strategy is static. Set it to continuous to let them follow the messages.",
  schemaColumns: { version: "Version", kind: "Change", columns: "Columns", cause: "Message" },
  schemaKinds: { created: "created with", added: "added", widened: "wider types" },
  restarts: "Restarts",
  why: "Why it stands still",
  whyHint: "It is asked by itself when records wait and nothing moves.",
  ask: "Ask now",
  planAndOptions: "Plan and configuration",
  options: "Options",
  optionColumns: { name: "Option", value: "Value", origin: "Origin" },
  defaults: "options at their defaults",
  noOptions: "Its options are known after its first micro-batch, and not through Spark Connect. Open this again then.",
  noPlan: "The query does not run any more, so Spark has no plan of it. Start it again to see one.",
  falling: "falling", rising: "rising", steady: "steady",
  waiting: "No micro-batch has been reported yet: charts appear with the first one. If it does not come, millrace.why(query) tells why.",
  malformed: "Malformed",
  malformedHere: "malformed",
  malformedAdvice: "Malformed records were skipped: the newest ones are below, with their reasons.",
  amongNewest: (searched) => `Among its newest ${searched} messages:`,
  noMalformed: "None of the newest messages is malformed: older ones were. Have them collected (dirty-data.collector) to keep them.",
  openTransactions: "records are behind open transactions",
  phaseNames: { latestOffset: "find offsets", queryPlanning: "plan", getBatch: "get batch", walCommit: "write log", addBatch: "read, compute, write", commitOffsets: "commit", commitBatch: "commit log" },

  noJobs: "No pipeline and no SQL statement runs in this process. Start one by `millrace run FILE --ui` or `millrace sql --ui`.",
  jobKinds: { pipeline: "Pipeline", sql: "SQL" },
  rowsRead: "Records read",
  rowsWritten: "Records written to topics",
  tables: "Tables",
  noTables: "No changes yet. Ask in the view of its query why, if some should have come.",
  sqlTableColumns: { name: "Table", records: "Records read", lag: "Lag", version: "Schema version" },
  tableColumns: { name: "Table", changes: "Changes", age: "Newest", version: "Schema version", state: "State" },
  schemaChanges: "Schema changes",
  collected: "messages collected",
  plan: "Plan",

  noCluster: "The page does not know where Kafka is. Open it by millrace.ui(spark, kafka={\"bootstrap.servers\": \"HOST:PORT\"}), or by millrace ui --bootstrap-servers HOST:PORT.",
  noTopics: "This cluster has no topics yet. Create one, or start a producer.",
  allTopics: "All topics",
  topicColumns: { name: "Topic", partitions: "Partitions", offsets: "Records, at most", bytes: "Bytes of all replicas", retention: "Retention", policy: "Cleanup" },
  bytesUnknown: "Bytes on the brokers' disks are not known:",
  forever: "unlimited",
  groups: "Consumer groups",
  groupColumns: { group: "Group", lag: "Lag", partitions: "Partitions that lag" },
  noGroups: "No group has committed offsets of this topic. A query does where it has properties.group.id.",
  groupsLeftOut: "more groups were not looked at.",
  caughtUp: "none",
  rangeColumns: { partition: "Partition", begin: "First offset", end: "End offset", offsets: "Offsets" },
  settings: "Settings of the topic",
  settingColumns: { name: "Setting", value: "Value" },
  messages: "Messages",
  payloadsOff: "Keys and values are not shown: this page was opened without payloads.",
  examples: { where: "amount > 100", columns: "id BIGINT, name STRING", registry: "http://host:8081", count: "50" },
  filters: { format: "Format", where: "Condition", columns: "Columns", registry: "Schema registry", count: "Newest", live: "live" },
  guessed: "guessed",
  show: "Show",
  newest: "messages, the newest first",
  about: "about",
  noMessages: "No message is in the topic, or none fulfils the condition. Choose live to see those that come, or another condition.",
  malformedReasons: "Malformed messages",
  tailEnded: "the live tail has ended: show again to go on",

  checks: "Checks",
  plugins: "Plugins",
  pluginColumns: { kind: "Kind", name: "Name", package: "Package", state: "State", reason: "What to do" },
  kindColumns: { kind: "Kind", count: "Usable", names: "Names" },
  versions: "Versions",

  commands: {
    queries: "for query in spark.streams.active: print(millrace.metrics(query).to_dict())",
    query: "print(millrace.metrics(query))",
    lag: "millrace.metrics(query).sources",
    phases: "query.lastProgress.durationMs",
    rates: "query.lastProgress.inputRowsPerSecond, query.lastProgress.processedRowsPerSecond",
    sink: "millrace.metrics(query, collector).sink",
    exactlyOnce: "millrace.exactly_once_state(query)",
    malformed: "millrace peek TOPIC --bootstrap-servers HOST:PORT --format FORMAT",
    why: "millrace.why(query)",
    plan: "query.explain()",
    schema: "print(evolving.changes)  # evolving = restart_on_schema_change(...)",
    pipeline: "running.metrics.to_dict()",
    sql: "EXPLAIN statement",
    plugins: "millrace plugins",
    versions: "pip list",
    topics: (servers) => `kafka-topics.sh --bootstrap-server ${servers} --describe`,
    bytes: (servers) => `kafka-log-dirs.sh --bootstrap-server ${servers} --describe`,
    allOffsets: (servers) => `kafka-get-offsets.sh --bootstrap-server ${servers}`,
    groups: (servers) => `kafka-consumer-groups.sh --bootstrap-server ${servers} --describe --all-groups`,
    offsets: (servers, topic) => `kafka-get-offsets.sh --bootstrap-server ${servers} --topic ${topic}`,
    settings: (servers, topic) => `kafka-configs.sh --bootstrap-server ${servers} --describe --all --topic ${topic}`,
    peek: (servers, topic, asked) => `millrace peek ${topic} --bootstrap-servers ${servers}${peekOptions(asked)}`,
  },
};

function phasesOf(sample) {
  return Object.entries(texts.phaseNames).filter(([phase]) => sample.phases[phase]).map(([phase, name]) => `${name} ${duration(sample.phases[phase])}`).join(", ");
}

const PEEK_OPTIONS = { format: "--format", where: "--where", columns: "--schema", registry: "--registry", count: "-n" };

function peekOptions(asked) {
  const given = Object.entries(PEEK_OPTIONS).filter(([name]) => asked.get(name));
  const options = given.map(([name, option]) => ` ${option} '${asked.get(name).replaceAll("'", "'\\''")}'`);
  return `${options.join("")} --metadata${asked.get("live") ? " --follow" : ""}`;
}

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(Math.max(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 0), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

export function count(value) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (Math.abs(value) >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (Math.abs(value) >= 1e4) return `${(value / 1e3).toFixed(1)} k`;
  return `${Math.round(value * 10) / 10}`;
}

export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

export function moment(text) {
  return new Date(text).toLocaleString();
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString();
}
