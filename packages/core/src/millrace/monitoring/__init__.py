"""Metrics of reads and writes.

Executors count what they read and tell the driver (`sender`, `receiver`), which adds it up (`totals`) and puts it, as
JSON, beside the latest offset that Spark shows in a query's progress. From there the user's process takes it (`view`),
wherever that runs.

Write tasks tell the driver what they have done by their commit messages. It adds them up and sends one report
(`sink_report`) for each micro-batch to the user's process, if that listens (`sink_metrics`).
"""
