"""Where an option belongs that is not one of millrace's, or not one of this configuration's."""

from __future__ import annotations

_PLUGIN_OPTIONS = {
    "scan.startup.": "'scan.startup.mode'",
    "scan.bounded.": "'scan.bounded.mode'",
    "sink.partitioner.": "'sink.partitioner'",
}

NOT_OPTIONS = {
    "sink.parallelism": "a data source cannot divide rows; use df.repartition(n, 'key') before the write, where the "
    "key keeps records with the same key in order, or KafkaSink's set_parallelism(n)",
    "sink.buffer-flush.": "it is for tables that are written by key, which are not supported yet; micro-batches and "
    "'properties.linger.ms' say when records are sent",
}
"""Options of the reference, or what they begin with, that have no place in a data source, and what to do instead."""


def hint_for(name: str, formats: list[str]) -> str | None:
    """What to write instead of an unknown option, or what it belongs to; None when neither is known.

    Args:
        name: The option.
        formats: The names of the formats that are installed.
    """
    key = name.lower()
    if key.startswith("spark."):
        return "it is a setting of the Spark session; those of Spark's own Kafka connector have no effect here"
    for prefix, option in _PLUGIN_OPTIONS.items():
        if key.startswith(prefix):
            return f"the value of {option} that is chosen has no such option"
    owner = key.removeprefix("value.").removeprefix("key.").split(".")[0]
    if owner in formats:
        side = " of keys" if key.startswith("key.") else ""
        return f"it is for format {owner!r}{side}, which is not the one that is chosen, or which has no such option"
    return None
