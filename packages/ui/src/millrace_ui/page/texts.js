// All texts of the page, and the forms of its numbers.
export const texts = {
  connected: "live",
  disconnected: "no answer from the driver: it may have ended. Trying again…",
  noQueries: "No query has started yet. Start one in this session, such as spark.readStream.format(\"millrace\")…start(), and it appears here.",
  unknownQuery: "This driver has no such query. It may belong to another session.",
  back: "All queries",
  states: { starting: "starting", running: "running", stopped: "stopped", failed: "failed" },
  columns: { name: "Query", state: "State", lag: "Lag", trend: "Last minutes", rowsIn: "Rows in", rowsOut: "Rows out", ageMs: "Newest row", durationMs: "Micro-batch" },
  lag: "Lag over time, in records",
  lagNone: "This query has no source of millrace, so its lag is not known.",
  partitions: "Lag of each partition now",
  phases: "Duration of micro-batches by phase, in milliseconds",
  rates: "Rows per second",
  table: "Partitions",
  sink: "Sink",
  whyHint: "Ask why it stands still: millrace.why(query)",
  data: "data as JSON",
  falling: "falling", rising: "rising", steady: "steady",
  waiting: "No micro-batch has been reported yet.",
  malformed: "malformed records skipped", openTransactions: "records behind open transactions",
  phaseNames: { latestOffset: "find offsets", queryPlanning: "plan", getBatch: "get batch", walCommit: "write log", addBatch: "read, compute, write", commitOffsets: "commit", commitBatch: "commit log" },
};

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

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString();
}
