"""Validate options against each other; what is wrong with a single one, the parser reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from millrace.configuration.validation.changelog import changelog_problems
from millrace.configuration.validation.error_tolerance import error_tolerance_problems
from millrace.configuration.validation.key_value import key_value_problems
from millrace.configuration.validation.sink import sink_problems
from millrace.configuration.validation.source import source_problems
from millrace.configuration.validation.upsert import upsert_problems
from millrace.kafka.idempotence import exclusion_problems
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.secrets import Properties
from millrace.plugins.manager import PluginRef


def option_problems(
    source: SourceOptions,
    source_client: Properties,
    sink: SinkOptions,
    value_format: PluginRef | None,
    user_options: Collection[str],
) -> Iterator[str]:
    """Yield one sentence for each combination of options that is wrong or has no effect.

    Args:
        source: The options of the source.
        source_client: The Kafka client's properties of the source.
        sink: The options of the sink.
        value_format: The format of values; None where there is none or it cannot be used.
        user_options: The names of all options that the user has given, in lower case.
    """
    yield from source_problems(source, source_client)
    yield from sink_problems(sink, user_options)
    yield from exclusion_problems(source_client, is_exactly_once=sink.is_exactly_once)
    yield from changelog_problems(source, value_format, user_options)
    yield from key_value_problems(source, user_options)
    yield from error_tolerance_problems(source)
    yield from upsert_problems(source, value_format, user_options)
