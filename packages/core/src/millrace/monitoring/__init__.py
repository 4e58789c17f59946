"""Metrics of streaming reads.

Executors count what they read and tell the driver (`sender`, `receiver`), which adds it up (`totals`) and puts it, as
JSON, beside the latest offset that Spark shows in a query's progress. From there the user's process takes it (`view`),
wherever that runs.
"""
