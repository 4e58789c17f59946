"""Settings of Flink that change no result: they are reported, and do not end a script that was written for Flink."""

from __future__ import annotations

import logging

logger = logging.getLogger("millrace.sql")

_PREFIXES = {
    "table.exec.mini-batch.": "Spark's streams are micro-batches: set 'execution.checkpointing.interval'",
    "execution.checkpointing.mode": "delivery is an option of a table: 'sink.delivery-guarantee'",
    "state.backend": "Spark's is spark.sql.streaming.stateStore.providerClass",
    "table.dynamic-table-options.enabled": "hints of options always count",
    "table.resources.download-dir": "give jars when the Spark session starts, such as --conf spark.jars=driver.jar",
    "python.": "functions run by the Python of Spark's executors: spark.pyspark.python, and PYTHONPATH for modules",
    "sql-client.execution.result-mode": "results are always tables, and those of streams update",
    "sql-client.execution.max-table-result.rows": "a result keeps all its rows",
    "sql-client.verbose": "millrace sql --conf spark.log.level=ERROR shows Spark's log",
} | dict.fromkeys(
    (
        "akka.",
        "blob.",
        "client.",
        "cluster.",
        "env.java.",
        "execution.attached",
        "execution.buffer-timeout",
        "execution.checkpointing.",
        "execution.shutdown-on-attached-exit",
        "execution.target",
        "fs.",
        "heartbeat.",
        "high-availability",
        "jobmanager.",
        "kubernetes.",
        "metrics.",
        "pekko.",
        "pipeline.auto-watermark-interval",
        "pipeline.generic-types",
        "pipeline.max-parallelism",
        "pipeline.object-reuse",
        "pipeline.operator-chaining",
        "rest.",
        "restart-strategy",
        "security.",
        "sql-client.",
        "state.savepoints.dir",
        "table.catalog-modification.",
        "table.exec.async-",
        "table.exec.deduplicate.",
        "table.exec.delta-join.",
        "table.exec.disabled-operators",
        "table.exec.interval-join.",
        "table.exec.local-hash-agg.",
        "table.exec.operator-fusion-codegen.",
        "table.exec.rank.",
        "table.exec.resource.",
        "table.exec.shuffle-mode",
        "table.exec.simplify-operator-name-enabled",
        "table.exec.sink.keyed-shuffle",
        "table.exec.sink.upsert-materialize",
        "table.exec.sort.",
        "table.exec.spill-compression.",
        "table.exec.uid.",
        "table.exec.unbounded-over.",
        "table.exec.window-agg.",
        "table.generated-code.",
        "table.optimizer.",
        "table.plan.",
        "table.rtas-ctas.",
        "taskmanager.",
        "web.",
        "yarn.",
        "zookeeper.",
    ),
    "it is for the way in which Flink runs a job, and Spark has its own",
)


def has_no_effect(key: str) -> bool:
    """Return whether a setting is one of Flink's that changes no result."""
    return any(key.lower().startswith(prefix) for prefix in _PREFIXES)


def report(key: str) -> None:
    """Log that a setting has no effect, and what there is instead."""
    reason = next(text for prefix, text in _PREFIXES.items() if key.lower().startswith(prefix))
    logger.warning("the setting %r has no effect here: %s", key, reason)
