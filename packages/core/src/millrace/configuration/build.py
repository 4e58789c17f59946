"""From the user's options to a finished configuration; on the driver only, since parsing needs pydantic."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Mapping
from typing import Any

from millrace.configuration.model import Configuration, SinkConfig, SourceConfig
from millrace.errors import OptionsError, PluginError
from millrace.kafka.client_settings import CLIENT_ID_PREFIX
from millrace.kafka.properties import translate
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.elsewhere import hint_for
from millrace.options.parse import OptionParser
from millrace.options.secrets import Properties
from millrace.options.spark_names import NAMES, rewrite
from millrace.plugins.kinds import FORMAT, HEADER_FILTER, OFFSET_INITIALIZER, PARTITIONER, Kind
from millrace.plugins.manager import PluginRef, plugin_manager

logger = logging.getLogger("millrace.options")


def configure(raw: Mapping[str, str]) -> Configuration:
    """Parse and check all options of a source or sink.

    Args:
        raw: The options as the user gave them; names in any case.

    Raises:
        OptionsError: Something is wrong; every problem is in the one message.
    """
    return _configure(tuple(sorted((name, str(value)) for name, value in raw.items())))


@functools.lru_cache(maxsize=64)
def _configure(raw: tuple[tuple[str, str], ...]) -> Configuration:
    # Spark makes the data source anew for every step of every micro-batch, mostly in the same few processes
    rewritten = rewrite(dict(raw))
    for sentence in rewritten.without_effect:
        logger.warning(sentence)
    given = {name.lower() for name, _ in raw}
    parser = OptionParser("millrace", rewritten.options)
    parser.expect(*NAMES)
    for problem in rewritten.problems:
        parser.report(problem)
    client = _client(parser)
    source_options = parser.take(SourceOptions) or SourceOptions()
    sink_options = parser.take(SinkOptions) or SinkOptions()
    if "topic" not in given:
        # What 'subscribe' names is to be read, never to be written to
        sink_options = dataclasses.replace(sink_options, topics=())
    value_format = _format(parser, source_options.value_format)
    configuration = Configuration(
        SourceConfig(
            options=source_options,
            client=_source_client(client, source_options),
            value_format=value_format,
            startup=_initializer(parser, "startup", source_options.startup_mode),
            bounded=_initializer(parser, "bounded", source_options.bounded_mode),
            header_filter=_header_filter(parser, source_options),
            # As in Spark's own connector, 'kafka.group.id' only names the client's group
            follows_group="properties.group.id" in given,
        ),
        SinkConfig(
            options=sink_options,
            client=client,
            value_format=value_format,
            partitioner=_plugin(parser, PARTITIONER, "sink.partitioner", sink_options.partitioner, "sink.partitioner."),
        ),
    )
    try:
        parser.finish(lambda name: hint_for(name, plugin_manager().names(FORMAT)))
    except OptionsError as error:
        raise OptionsError(error.side, tuple(map(rewritten.as_written, error.problems))) from None
    return configuration


def _client(parser: OptionParser) -> Properties:
    parser.expect("properties.bootstrap.servers")
    given = parser.take_prefixed("properties.")
    # Not the client's business: it would replace offsets that are gone, where the planner and the reader must notice
    given.pop("auto.offset.reset", None)
    client, problems = translate(given)
    for problem in problems:
        parser.report(problem)
    return Properties(client)


def _source_client(client: Properties, options: SourceOptions) -> Properties:
    own: dict[str, str] = {}
    if options.client_id_prefix is not None:
        own[CLIENT_ID_PREFIX] = options.client_id_prefix
    if not options.register_consumer_metrics:
        own["statistics.interval.ms"] = "0"
    return Properties({**client, **own})


def _format(parser: OptionParser, name: str | None) -> PluginRef | None:
    if name is None:
        return None
    return _plugin(parser, FORMAT, "value.format", name, f"value.{name}.", f"{name}.")


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
