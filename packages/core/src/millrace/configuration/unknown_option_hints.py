"""Hints for unknown options."""

from __future__ import annotations

_PLUGIN_OPTIONS = {
    "scan.startup.": "'scan.startup.mode'",
    "scan.bounded.": "'scan.bounded.mode'",
    "sink.partitioner.": "'sink.partitioner'",
}

_PIPELINE = (
    "requires a pipeline that reads or writes several tables, which is not supported yet; a topic is one table here"
)

UNSUPPORTED_OPTIONS = {
    "sink.parallelism": "a data source cannot divide rows; use millrace.repartition_by_key(df, 'key', tasks=n) before "
    "the write, which keeps records with the same key in order, or KafkaSink's set_parallelism(n)",
    "schema.inference.strategy": "the columns of a Spark query are fixed; the catalog has this option, and its "
    "restart_on_schema_change restarts a query with the columns that its messages need",
    **dict.fromkeys(
        (
            "canal-json.distributed-tables",
            "debezium-json.distributed-tables",
            "debezium-json.emit.full-table-id.enabled",
            "debezium-json.include-schema.enabled",
            "partition.strategy",
            "scan.value.initial-schemas.ddls",
            "sink.tableId-to-topic.mapping",
        ),
        _PIPELINE,
    ),
}
"""Options of the reference, by name or prefix, that a data source cannot have, and what to do instead."""


def hint_for(name: str, formats: list[str]) -> str | None:
    """Say what to write instead of an unknown option, or what it belongs to; None if there is no hint.

    Args:
        name: The option.
        formats: The names of the formats that are installed.
    """
    key = name.lower()
    if key.startswith("spark."):
        return "it is a setting of the Spark session; those of Spark's own Kafka connector have no effect on millrace"
    if "asyncprogress" in key:
        return (
            "Spark's own are 'asyncProgressTrackingEnabled', 'asyncProgressTrackingCheckpointIntervalMs' and "
            "'_asyncProgressTrackingOverrideSinkSupportCheck'"
        )
    for prefix, option in _PLUGIN_OPTIONS.items():
        if key.startswith(prefix):
            return f"the chosen value of {option} has no such option"
    owner = key.removeprefix("value.").removeprefix("key.").split(".")[0]
    if owner in formats:
        side = " of keys" if key.startswith("key.") else ""
        return f"format {owner!r}{side} is not chosen, or has no such option"
    return None
