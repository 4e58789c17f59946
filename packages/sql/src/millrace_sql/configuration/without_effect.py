"""Settings of Flink that change no result: they are reported, and do not end a script that was written for Flink."""

from __future__ import annotations

import logging

logger = logging.getLogger("millrace.sql")

_PREFIXES = {
    "table.exec.mini-batch.": "Spark's streams are micro-batches: set 'execution.checkpointing.interval'",
    "execution.checkpointing.mode": "delivery is an option of a table: 'sink.delivery-guarantee'",
    "state.backend": "Spark's is spark.sql.streaming.stateStore.providerClass",
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
        "table.exec.async-",
        "table.exec.disabled-operators",
        "table.exec.resource.",
        "table.exec.shuffle-mode",
        "table.exec.sort.",
        "table.exec.spill-compression.",
        "table.optimizer.agg-phase-strategy",
        "table.optimizer.distinct-agg.split.",
        "table.optimizer.join",
        "table.optimizer.multiple-input-enabled",
        "table.optimizer.reuse-",
        "table.optimizer.source.",
        "table.plan.",
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
