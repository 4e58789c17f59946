"""Build the configurations of sources and sinks from the user's options; only on the driver, with pydantic."""

from __future__ import annotations

import dataclasses
import logging
import stat
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from millrace.configuration.client_properties import sink_properties, source_properties, take_client_properties
from millrace.configuration.model import SinkConfig, SourceConfig
from millrace.configuration.plugin_references import Direction, PluginReferences, UnusablePlugin
from millrace.configuration.spark_compat import SPARK_OPTIONS, translate_spark_options
from millrace.configuration.unknown_option_hints import UNSUPPORTED_OPTIONS, hint_for
from millrace.configuration.validation import option_problems
from millrace.configuration.validation.error_tolerance import dead_letter_topic_problems, error_tolerance_warnings
from millrace.contracts import StandardOffsets
from millrace.errors import OptionsError
from millrace.kafka.idempotence import exclusion_warnings
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.parser import OptionParser
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import plugin_manager
from millrace.worker import RESOURCES, ResourceKind

logger = logging.getLogger("millrace.options")


def configure_source(raw: Mapping[str, str], *, warns: bool = True) -> SourceConfig:
    """Parse and check all options for a read; plugins that only writes use need not be installed.

    Args:
        raw: The options as the user gave them; names in any case.
        warns: Whether to log what has no effect, once for each set of options in a process.

    Raises:
        OptionsError: Something is wrong; the message lists all problems.
    """
    parsed = _parse(raw, warns=warns)
    parsed.refuse_problems(Direction.READ)
    return parsed.source


def configure_sink(raw: Mapping[str, str], *, warns: bool = True) -> SinkConfig:
    """Parse and check all options for a write; plugins that only reads use need not be installed.

    Args:
        raw: The options as the user gave them; names in any case.
        warns: Whether to log what has no effect, once for each set of options in a process.

    Raises:
        OptionsError: Something is wrong; the message lists all problems.
    """
    parsed = _parse(raw, warns=warns)
    parsed.refuse_problems(Direction.WRITE)
    return parsed.sink


def check_options(raw: Mapping[str, str]) -> None:
    """Check options before it is decided whether a read or a write uses them.

    Args:
        raw: The options as the user gave them; names in any case.

    Raises:
        OptionsError: Something is wrong in either case; every problem with a given option is in the one message.
    """
    parsed = _parse(raw)
    if parsed.problems:
        plugin_problems = (plugin.problem for plugin in parsed.unusable if plugin.is_given)
        raise OptionsError("millrace", (*parsed.problems, *plugin_problems))


def _from_the_beginning(options: SourceOptions) -> SourceOptions:
    """Let a read of a table with a primary key start where its topic begins, unless the user says otherwise."""
    if options.is_upsert and options.startup_mode is None:
        return dataclasses.replace(options, startup_mode=StandardOffsets.EARLIEST)
    return options


class _ParsedOptions(NamedTuple):
    """The outcome of parsing one set of options.

    Attributes:
        source: The configuration of a read, usable when there are no problems.
        sink: The configuration of a write, usable when there are no problems.
        problems: The problems of both directions.
        unusable: The plugins that only one direction lacks.
        warnings: What is accepted, and not as it should be.
    """

    source: SourceConfig
    sink: SinkConfig
    problems: tuple[str, ...]
    unusable: tuple[UnusablePlugin, ...]
    warnings: tuple[str, ...]

    def refuse_problems(self, direction: Direction) -> None:
        problems = (*self.problems, *(plugin.problem for plugin in self.unusable if plugin.direction is direction))
        if problems:
            raise OptionsError("millrace", problems)


PARSED_OPTIONS = ResourceKind[_ParsedOptions]("parsed options", capacity=64)

SHOWN_WARNINGS = ResourceKind[bool]("warnings of options", capacity=64)


def _parse(raw: Mapping[str, str], *, warns: bool = True) -> _ParsedOptions:
    pairs = tuple(sorted((name, str(value)) for name, value in raw.items()))
    # Spark creates the data source again for every step of every micro-batch, mostly in the same few processes. Files
    # are a part of the key, so that changed ones are read again
    parsed = RESOURCES.get(PARSED_OPTIONS, (pairs, _named_files(pairs)), lambda: _parse_options(pairs))
    if parsed.problems:
        # What is wrong now may be right later, such as when a folder has been created
        RESOURCES.drop(PARSED_OPTIONS)
    if warns and parsed.warnings:
        RESOURCES.get(SHOWN_WARNINGS, (pairs, parsed.warnings), lambda: _warn(parsed.warnings))
    return parsed


def _warn(warnings: tuple[str, ...]) -> bool:
    for sentence in warnings:
        logger.warning(sentence)
    return True


def _named_files(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, int, int], ...]:
    """The paths, modification times and sizes of files that options name.

    What some of these files hold becomes part of the configuration.
    """
    files = []
    for _, value in pairs:
        try:
            state = Path(value).stat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(state.st_mode):
            files.append((value, state.st_mtime_ns, state.st_size))
    return tuple(files)


def _parse_options(pairs: tuple[tuple[str, str], ...]) -> _ParsedOptions:
    translated = translate_spark_options(dict(pairs))
    warnings = [*translated.without_effect]
    parser = OptionParser("millrace", translated.options)
    parser.expect(*SPARK_OPTIONS)
    for problem in translated.problems:
        parser.report(problem)

    def warn(sentence: str) -> None:
        warnings.append(translated.with_given_names(sentence))

    source, sink, plugins = _parse_directions(parser, {name.lower() for name, _ in pairs}, warn)
    for sentence in parser.warnings:
        warn(sentence)
    _refuse_unsupported(parser)
    problems = parser.problems(lambda name: hint_for(name, plugin_manager().names(FORMAT)))
    return _ParsedOptions(
        source,
        sink,
        tuple(map(translated.with_given_names, problems)),
        tuple(plugin._replace(problem=translated.with_given_names(plugin.problem)) for plugin in plugins.unusable),
        tuple(warnings),
    )


def _parse_directions(
    parser: OptionParser, user_options: AbstractSet[str], warn: Callable[[str], None]
) -> tuple[SourceConfig, SinkConfig, PluginReferences]:
    client = take_client_properties(parser, warn)
    source_options = parser.take(SourceOptions) or SourceOptions()
    sink_options = _take_sink_options(parser, user_options)
    source_client = source_properties(client, source_options)
    plugins = PluginReferences(parser)
    value_format, key_format = plugins.value_format(source_options), plugins.key_format(source_options)
    for problem in option_problems(source_options, source_client, sink_options, value_format, user_options):
        parser.report(problem)
    for sentence in error_tolerance_warnings(source_options, user_options):
        warn(sentence)
    dead_letter_collector = plugins.dead_letter_collector(source_options)
    for problem in dead_letter_topic_problems(source_options, dead_letter_collector):
        parser.report(problem)
    if sink_options.waits_for_brokers and not sink_options.is_exactly_once:
        for sentence in exclusion_warnings(client):
            warn(sentence)
    source = SourceConfig(
        options=source_options,
        client=source_client,
        value_format=value_format,
        key_format=key_format,
        startup=plugins.startup(_from_the_beginning(source_options)),
        bounded=plugins.bounded(source_options),
        header_filter=plugins.header_filter(source_options),
        dead_letter_collector=dead_letter_collector,
        inference=plugins.schema_inference(source_options, user_options),
        # As in Spark's own connector, 'kafka.group.id' only names the client's group
        state_backend=plugins.state_backend(source_options),
        key_partitioner=plugins.key_partitioner(source_options),
        follows_group="properties.group.id" in user_options or source_client.get("group.id") != client.get("group.id"),
    )
    sink = SinkConfig(
        options=sink_options,
        client=sink_properties(client, sink_options),
        value_format=value_format,
        key_format=key_format,
        partitioner=plugins.partitioner(sink_options),
    )
    return source, sink, plugins


def _take_sink_options(parser: OptionParser, user_options: AbstractSet[str]) -> SinkOptions:
    options = parser.take(SinkOptions) or SinkOptions()
    # 'subscribe' and 'subscribePattern' select topics to read, never to write to
    if "topic" not in user_options:
        options = dataclasses.replace(options, topics=())
    if "topic-pattern" not in user_options:
        options = dataclasses.replace(options, topic_pattern=None)
    return options


def _refuse_unsupported(parser: OptionParser) -> None:
    for prefix, reason in UNSUPPORTED_OPTIONS.items():
        for rest in parser.take_prefixed(prefix):
            parser.report(f"option {prefix + rest!r}: {reason}")
