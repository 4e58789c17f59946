"""Validate the options of tables with a primary key, of connector upsert-kafka.

See "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat, StandardOffsets
from millrace.options.connector import SourceOptions
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import PluginRef, plugin_manager

_ONLY_TABLES = (
    "changelog.mode",
    "state.checkpoints.dir",
    "state.checkpoints.num-retained",
    "state.backend",
    "state.backend.type",
)
_WITH = "with 'connector' = 'upsert-kafka'"


def upsert_problems(options: SourceOptions, value_format: PluginRef | None, given: Collection[str]) -> Iterator[str]:
    """Yield one sentence for each option that a table with a primary key lacks or cannot have.

    Args:
        options: The options of source and sink.
        value_format: The format of values; None where there is none or it cannot be used.
        given: The names of all options that the user has given, in lower case.
    """
    if not options.is_upsert:
        for name in _ONLY_TABLES:
            if name in given:
                yield f"option {name!r} requires 'connector' = 'upsert-kafka'"
        return
    yield from _topic_problems(options)
    if options.key_format is None:
        yield f"option 'key.format' is required {_WITH}: the key of a message is the primary key of its row"
        if not options.key_fields:
            yield f"option 'key.fields' is required {_WITH}: the columns of the primary key, such as 'id;country'"
    if options.value_format is None:
        yield f"option 'value.format' is required {_WITH}"
    if value_format is not None and issubclass(plugin_manager().load(FORMAT, value_format.name), ChangelogFormat):
        yield (
            f"option 'value.format': {value_format.name!r} is a changelog format, and {_WITH} a value is the latest "
            f"row of its key, without a row kind: use 'json', or 'connector' = 'kafka' for a topic of changes"
        )
    yield from _read_problems(options)


def _topic_problems(options: SourceOptions) -> Iterator[str]:
    if options.topic_pattern is not None:
        yield f"option 'topic-pattern' cannot be used {_WITH}: a table is one topic; name it by option 'topic'"
    elif options.partitions:
        yield f"option 'topic-partitions' cannot be used {_WITH}: a table is all partitions of one topic"
    elif not options.topics:
        yield f"option 'topic' is required {_WITH}"
    elif len(options.topics) > 1:
        yield f"option 'topic' must name one topic {_WITH}, not {len(options.topics)}: '{';'.join(options.topics)}'"


def _read_problems(options: SourceOptions) -> Iterator[str]:
    mode = options.startup_mode
    if mode is not None and mode.lower() != StandardOffsets.EARLIEST:
        yield (
            f"option 'scan.startup.mode' must be {StandardOffsets.EARLIEST!r} {_WITH}, not {mode!r}: what a row was "
            f"before is known only by reading all messages of its key. Leave the option out"
        )
    if options.header_filter is not None:
        yield (
            f"option 'scan.header-filter' cannot be used {_WITH}: without some of the messages of a key its row would "
            f"be another one; filter the rows instead"
        )
    for name, is_set in {
        "scan.parallelism": options.parallelism is not None,
        "scan.split.max-records": options.max_records_per_split is not None,
    }.items():
        if is_set:
            yield f"option {name!r} cannot be used {_WITH}: one task reads a partition, in order, so that none is cut"
    if not options.fail_on_data_loss:
        yield (
            f"option 'scan.fail-on-data-loss' must be 'true' {_WITH}: after messages are lost, nobody knows the rows "
            f"of their keys"
        )
