"""From the user's options to a finished configuration; on the driver only, since parsing needs pydantic."""

from __future__ import annotations

import dataclasses
import functools
import logging
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from millrace.configuration.changelog_validation import problems_of_changes
from millrace.configuration.error_tolerance_validation import problems_of_dirty_data
from millrace.configuration.key_value_validation import problems_of_parts
from millrace.configuration.model import Configuration, SinkConfig, SourceConfig
from millrace.configuration.spark_compat import NAMES, rewrite
from millrace.configuration.unknown_option_hints import NOT_OPTIONS, hint_for
from millrace.errors import OptionsError, PluginError
from millrace.kafka.client_settings import CLIENT_ID_PREFIX
from millrace.kafka.properties import translate
from millrace.kafka.statistics import INTERVAL_MS, OFF, STATISTICS
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.field import options_of
from millrace.options.parse import OptionParser
from millrace.options.secrets import Properties
from millrace.plugins.kinds import FORMAT, HEADER_FILTER, OFFSET_INITIALIZER, PARTITIONER, SCHEMA_INFERENCE, Kind
from millrace.plugins.manager import PluginRef, plugin_manager

logger = logging.getLogger("millrace.options")


_NOT_THE_CLIENTS = {
    name.removeprefix("properties.")
    for side in (SourceOptions, SinkOptions)
    for info in options_of(side).values()
    for name in (info.name, *info.aliases)
    if name.startswith("properties.")
}
"""Options of source and sink that stand among the client's properties."""


def configure(raw: Mapping[str, str]) -> Configuration:
    """Parse and check all options of a source or sink.

    Args:
        raw: The options as the user gave them; names in any case.

    Raises:
        OptionsError: Something is wrong; every problem is in the one message.
    """
    given = tuple(sorted((name, str(value)) for name, value in raw.items()))
    return _configure(given, _files_in(given))


def _files_in(given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, int, int], ...]:
    """The states of files that options may name: what some of them hold becomes part of the configuration."""
    found = []
    for _, value in given:
        try:
            state = Path(value).stat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(state.st_mode):
            found.append((value, state.st_mtime_ns, state.st_size))
    return tuple(found)


@functools.lru_cache(maxsize=64)
def _configure(
    raw: tuple[tuple[str, str], ...],
    files: tuple[tuple[str, int, int], ...],  # noqa: ARG001 - so that changed files are read again
) -> Configuration:
    # Spark makes the data source anew for every step of every micro-batch, mostly in the same few processes
    rewritten = rewrite(dict(raw))
    for sentence in rewritten.without_effect:
        logger.warning(sentence)
    given = {name.lower() for name, _ in raw}
    parser = OptionParser("millrace", rewritten.options)
    parser.expect(*NAMES)
    for problem in rewritten.problems:
        parser.report(problem)
    client = take_client_properties(parser)
    source_options = parser.take(SourceOptions) or SourceOptions()
    source_client = _source_client(client, source_options)
    sink_options = parser.take(SinkOptions) or SinkOptions()
    # What 'subscribe' and 'subscribePattern' choose is to be read, never to be written to
    if "topic" not in given:
        sink_options = dataclasses.replace(sink_options, topics=())
    if "topic-pattern" not in given:
        sink_options = dataclasses.replace(sink_options, topic_pattern=None)
    _check_together(parser, source_options, source_client)
    _check_guarantee(parser, sink_options)
    for prefix, reason in NOT_OPTIONS.items():
        for rest in parser.take_prefixed(prefix):
            parser.report(f"option {prefix + rest!r}: {reason}")
    _check_creation(parser, sink_options)
    _check_metrics(parser, sink_options)
    value_format, key_format = _value_format(parser, source_options), _key_format(parser, source_options)
    _check_formats(parser, source_options, value_format, given)
    configuration = Configuration(
        SourceConfig(
            options=source_options,
            client=source_client,
            value_format=value_format,
            key_format=key_format,
            startup=_initializer(parser, "startup", source_options.startup_mode),
            bounded=_initializer(parser, "bounded", source_options.bounded_mode),
            header_filter=_header_filter(parser, source_options),
            inference=_inference(parser, source_options, given),
            # As in Spark's own connector, 'kafka.group.id' only names the client's group
            follows_group="properties.group.id" in given or source_client.get("group.id") != client.get("group.id"),
        ),
        SinkConfig(
            options=sink_options,
            client=_sink_client(client, sink_options),
            value_format=value_format,
            key_format=key_format,
            partitioner=_plugin(parser, PARTITIONER, "sink.partitioner", sink_options.partitioner, "sink.partitioner."),
        ),
    )
    try:
        parser.finish(lambda name: hint_for(name, plugin_manager().names(FORMAT)))
    except OptionsError as error:
        raise OptionsError(error.side, tuple(map(rewritten.as_written, error.problems))) from None
    return configuration


def take_client_properties(parser: OptionParser) -> Properties:
    """Take all options ``properties.*`` that are the Kafka client's; what is wrong with them is reported."""
    parser.expect("properties.bootstrap.servers")
    given = parser.take_prefixed("properties.")
    client, problems = translate({name: value for name, value in given.items() if name not in _NOT_THE_CLIENTS})
    for problem in problems:
        parser.report(problem)
    return Properties(client)


def _source_client(client: Properties, options: SourceOptions) -> Properties:
    own: dict[str, str] = {}
    if options.table_name is not None and "group.id" not in client:
        own["group.id"] = f"KafkaSource-{options.table_name}"
    if options.client_id_prefix is not None:
        own[CLIENT_ID_PREFIX] = options.client_id_prefix
    if not options.register_consumer_metrics:
        own |= OFF
    return Properties({**client, **own})


def _sink_client(client: Properties, options: SinkOptions) -> Properties:
    if options.metrics_address is None:
        return client
    return Properties({STATISTICS: INTERVAL_MS, **client, **({} if options.register_producer_metrics else OFF)})


def _check_together(parser: OptionParser, options: SourceOptions, client: Properties) -> None:
    """Refuse options that would have no effect without others."""
    if options.idle_timeout_ms and options.max_drift_ms is None:
        parser.report(
            "option 'scan.watermark.idle-timeout': it is for aligned reading; give 'scan.watermark.alignment.max-drift'"
        )
    if options.header_filter is None and options.filter_language != SourceOptions().filter_language:
        parser.report("option 'scan.filter.language': there is no filter; give 'scan.header-filter'")
    wants_group = {
        "commit.offsets.on.checkpoint": options.commit_offsets,
        "scan.check.duplicated.group.id": options.check_duplicated_group,
    }
    for name, is_wanted in wants_group.items():
        if is_wanted and "group.id" not in client:
            parser.report(f"option {name!r}: there is no group; give 'properties.group.id'")


def _check_guarantee(parser: OptionParser, options: SinkOptions) -> None:
    if options.is_exactly_once:
        if not options.transactional_id_prefix:
            parser.report(
                "option 'sink.transactional-id-prefix' is required with 'sink.delivery-guarantee' = 'exactly-once': "
                "give each query one of its own, such as 'orders-copy'"
            )
        return
    given = {
        "sink.transactional-id-prefix": options.transactional_id_prefix is not None,
        "sink.exactly-once.if-in-doubt": options.if_in_doubt != SinkOptions().if_in_doubt,
    }
    for name in (name for name, is_given in given.items() if is_given):
        parser.report(f"option {name!r}: it is for 'sink.delivery-guarantee' = 'exactly-once'")


def _check_creation(parser: OptionParser, options: SinkOptions) -> None:
    if options.creates_topics:
        if not options.topics:
            parser.report("option 'sink.topic.create': it creates topics that the option 'topic' names; give that one")
        return
    given = {
        "sink.topic.create.partitions": options.created_partitions,
        "sink.topic.create.replication-factor": options.created_replication_factor,
    }
    for name in (name for name, number in given.items() if number is not None):
        parser.report(f"option {name!r}: it is for 'sink.topic.create' = 'true'")


def _check_formats(
    parser: OptionParser, options: SourceOptions, value_format: PluginRef | None, given: set[str]
) -> None:
    found = (
        *problems_of_changes(options, value_format, given),
        *problems_of_parts(options, given),
        *problems_of_dirty_data(options, given),
    )
    for problem in found:
        parser.report(problem)


def _check_metrics(parser: OptionParser, options: SinkOptions) -> None:
    if (options.metrics_address is None) != (options.metrics_secret is None):
        parser.report(
            "options 'sink.metrics.address' and 'sink.metrics.secret' belong together: give both, as "
            "SinkMetrics.options has them"
        )


def _value_format(parser: OptionParser, options: SourceOptions) -> PluginRef | None:
    name = options.value_format
    return None if name is None else _plugin(parser, FORMAT, "value.format", name, f"value.{name}.", f"{name}.")


def _key_format(parser: OptionParser, options: SourceOptions) -> PluginRef | None:
    name = options.key_format
    return None if name is None else _plugin(parser, FORMAT, "key.format", name, f"key.{name}.")


def _inference(parser: OptionParser, options: SourceOptions, given: set[str]) -> PluginRef | None:
    name, manager = options.value_format, plugin_manager()
    if name is None or name not in manager.names(SCHEMA_INFERENCE):
        for each in sorted(given & {"scan.max.pre.fetch.records", "infer-schema.max-columns"}):
            parser.report(f"option {each!r}: it is for formats whose columns can be inferred, such as 'json'")
        return None
    prefixes = (f"value.{name}.", f"{name}.")
    if not any(map(parser.has_prefixed, prefixes)):
        # Most reads are given their columns, and most processes that plan need none
        return manager.refer(SCHEMA_INFERENCE, name)
    return _plugin(parser, SCHEMA_INFERENCE, "value.format", name, *prefixes)


def _initializer(parser: OptionParser, side: str, name: str | None) -> PluginRef | None:
    if name is None:
        return None
    return _plugin(parser, OFFSET_INITIALIZER, f"scan.{side}.mode", name, f"scan.{side}.")


def _header_filter(parser: OptionParser, options: SourceOptions) -> PluginRef | None:
    if options.header_filter is None:
        return None
    try:
        manager = plugin_manager()
        manager.load(HEADER_FILTER, options.filter_language)(options.header_filter)
        return manager.refer(HEADER_FILTER, options.filter_language, options.header_filter)
    except PluginError as error:
        parser.report(f"option 'scan.filter.language': {error}")
    except ValueError as error:
        parser.report(f"option 'scan.header-filter': {error}")
    return None


def _plugin(parser: OptionParser, kind: Kind, option: str, name: str, *prefixes: str) -> Any:
    """A reference to the plugin that an option names, with its own options parsed; None after a problem."""
    manager = plugin_manager()
    try:
        options = parser.take(manager.load(kind, name).Options, *prefixes)  # type: ignore[attr-defined]
        return manager.refer(kind, name, options)
    except PluginError as error:
        parser.report(f"option {option!r}: {error}")
        for prefix in prefixes:
            parser.take_prefixed(prefix)
        return None
