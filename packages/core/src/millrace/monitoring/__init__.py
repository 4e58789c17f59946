"""Carry metrics of reads and writes to the user's process.

Reads: executors count what they read and send a report (`split_report`) after each split to the driver (`sender`,
`receiver`), which adds them up (`totals`) and puts the sums, as JSON, beside the latest offset that Spark shows in
a query's progress (`progress`). The user's process takes them from there (`millrace.api.metrics`), wherever it runs.

Writes: tasks return what they have done in their commit messages. The driver adds those up and sends one report
(`sink_report`) for each micro-batch to the user's process, if that listens (`millrace.api.sink_metrics`). Whoever
follows all queries of a session gives it an address (`session_receivers`), so that their sinks need none.
The traces of messages go to such followers too, where they ask for them (`trace_report`).
"""
