"""The format of messages whose schemas a registry has, with its options as a pipeline gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from millrace.contracts import OptionProblem
from millrace.errors import PluginError
from millrace.options.parser import OptionParser
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import PluginRef, plugin_manager
from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions
from millrace_cdc.runtime.registry_changes import FORMAT_NAME

_PREFIX = f"{FORMAT_NAME}."
_OF_THE_SOURCE = {"distributed-tables", "values-out-of-range"}


class _ParsedFormat(NamedTuple):
    parser: OptionParser
    options: Any


def registry_format(options: KafkaSourceOptions) -> PluginRef:
    """Return the format with its options.

    Raises:
        OptionsError: Some are wrong, or lack.
        MachineError: This machine lacks a library of the format.
        PluginError: No installed package has the format.
    """
    parsed = _parse(options)
    parsed.parser.finish()
    plugin_manager().load(FORMAT, FORMAT_NAME).check_requirements()
    return plugin_manager().refer(FORMAT, FORMAT_NAME, parsed.options)


def registry_format_problems(options: KafkaSourceOptions) -> Iterator[OptionProblem]:
    """Yield what is wrong with the format's options, where it is the format of values."""
    if options.value_format != FORMAT_NAME:
        return
    try:
        problems = _parse(options).parser.named_problems()
    except PluginError as error:
        yield OptionProblem("value.format", str(error))
        return
    for name, sentence in problems:
        yield OptionProblem(name or "value.format", sentence)


def _parse(options: KafkaSourceOptions) -> _ParsedFormat:
    format_options = {_PREFIX + name: text for name, text in options.avro_registry if name not in _OF_THE_SOURCE}
    parser = OptionParser("source", format_options)
    return _ParsedFormat(parser, parser.take(plugin_manager().load(FORMAT, FORMAT_NAME).Options, _PREFIX))
