"""Validate the options of tables with a primary key: of connector upsert-kafka, and of change logs.

See "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.contracts import ChangelogFormat, StandardOffsets
from millrace.options.connector import SourceOptions
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import PluginRef, plugin_manager

_STATE = ("state.checkpoints.dir", "state.checkpoints.num-retained", "state.backend", "state.backend.type")
_UPSERT = "with 'connector' = 'upsert-kafka'"
_KEYED = "with 'changelog.primary-key'"


def upsert_problems(
    options: SourceOptions, value_format: PluginRef | None, user_options: Collection[str]
) -> Iterator[str]:
    """Yield one sentence for each option that a table with a primary key lacks or cannot have.

    Args:
        options: The options of source and sink.
        value_format: The format of values; None where there is none or it cannot be used.
        user_options: The names of all options that the user has given, in lower case.
    """
    if not options.is_upsert and "changelog.mode" in user_options:
        yield "option 'changelog.mode' requires 'connector' = 'upsert-kafka'"
    if options.is_upsert:
        yield from _upsert_problems(options, value_format)
    elif options.primary_key:
        yield from _change_log_problems(options, value_format)
    else:
        for name in _STATE:
            if name in user_options:
                yield f"option {name!r} requires 'connector' = 'upsert-kafka' or 'changelog.primary-key'"


def _change_log_problems(options: SourceOptions, value_format: PluginRef | None) -> Iterator[str]:
    if value_format is None and options.value_format is not None:
        return  # the unusable format is a problem of its own
    if value_format is None or not _is_changelog(value_format):
        chosen = "there is no format" if value_format is None else f"{value_format.name!r} is none"
        yield f"option 'changelog.primary-key' requires a changelog format, such as 'debezium-json'; {chosen}"
    if options.row_kind_column in options.primary_key:
        yield f"option 'changelog.primary-key': {options.row_kind_column!r} holds the row kinds and is not of the key"
    yield from _topic_problems(options, _KEYED)
    yield from _read_problems(options, _KEYED)


def _is_changelog(value_format: PluginRef) -> bool:
    return issubclass(plugin_manager().load(FORMAT, value_format.name), ChangelogFormat)


def _upsert_problems(options: SourceOptions, value_format: PluginRef | None) -> Iterator[str]:
    if options.primary_key:
        yield f"option 'changelog.primary-key' cannot be used {_UPSERT}: its primary key is option 'key.fields'"
    yield from _topic_problems(options, _UPSERT)
    if options.key_format is None:
        yield f"option 'key.format' is required {_UPSERT}: the key of a message is the primary key of its row"
        if not options.key_fields:
            yield f"option 'key.fields' is required {_UPSERT}: the columns of the primary key, such as 'id;country'"
    if options.value_format is None:
        yield f"option 'value.format' is required {_UPSERT}"
    if value_format is not None and _is_changelog(value_format):
        yield (
            f"option 'value.format': {value_format.name!r} is a changelog format, and {_UPSERT} a value is the latest "
            f"row of its key, without a row kind: use 'json', or 'connector' = 'kafka' for a topic of changes"
        )
    if options.changelog_mode == "retract":
        yield from _startup_problems(options)
    yield from _read_problems(options, _UPSERT)


def _topic_problems(options: SourceOptions, with_: str) -> Iterator[str]:
    if options.topic_pattern is not None:
        yield f"option 'topic-pattern' cannot be used {with_}: a table is one topic; name it by option 'topic'"
    elif options.partitions:
        yield f"option 'topic-partitions' cannot be used {with_}: a table is all partitions of one topic"
    elif not options.topics:
        yield f"option 'topic' is required {with_}"
    elif len(options.topics) > 1:
        yield f"option 'topic' must name one topic {with_}, not {len(options.topics)}: '{';'.join(options.topics)}'"


def _startup_problems(options: SourceOptions) -> Iterator[str]:
    mode = options.startup_mode
    if mode is not None and mode.lower() != StandardOffsets.EARLIEST:
        yield (
            f"option 'scan.startup.mode' must be {StandardOffsets.EARLIEST!r} {_UPSERT}, not {mode!r}: what a row was "
            f"before is known only by reading all messages of its key. Leave the option out, or read changes without "
            f"old rows by 'changelog.mode' = 'upsert'"
        )


def _read_problems(options: SourceOptions, with_: str) -> Iterator[str]:
    if options.header_filter is not None:
        yield (
            f"option 'scan.header-filter' cannot be used {with_}: without some of the messages of a key its row would "
            f"be another one; filter the rows instead"
        )
    for name, is_set in {
        "scan.parallelism": options.parallelism is not None,
        "scan.split.max-records": options.max_records_per_split is not None,
    }.items():
        if is_set:
            yield f"option {name!r} cannot be used {with_}: one task reads a partition, in order, so that none is cut"
    if not options.fail_on_data_loss:
        yield (
            f"option 'scan.fail-on-data-loss' must be 'true' {with_}: after messages are lost, nobody knows the rows "
            f"of their keys"
        )
