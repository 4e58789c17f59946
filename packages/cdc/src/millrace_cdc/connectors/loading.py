"""Sources and sinks by the names of their plugins."""

from __future__ import annotations

from typing import Any

from millrace.contracts import ChangeSource, PipelineSink
from millrace.errors import PluginError
from millrace.options.parser import OptionParser
from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace.plugins.kinds import Kind
from millrace_cdc.connectors.change_rows import ChangeRows
from millrace_cdc.definitions.model import SinkDefinition, SourceDefinition
from millrace_cdc.runtime.source import MessageSource


def make_source(definition: SourceDefinition) -> MessageSource:
    """Make the source of a definition.

    Raises:
        PluginError: Its type is unknown, cannot be loaded, or has a base that nothing runs.
        OptionsError: Its options are invalid; the message lists all problems.
    """
    source = _make(PIPELINE_SOURCE, "source", definition)
    if isinstance(source, ChangeSource):
        return ChangeRows(source, definition.type)
    if not isinstance(source, MessageSource):
        raise PluginError(
            f"pipeline source {definition.type!r} ({type(source).__qualname__}) cannot be run: subclass "
            f"millrace.contracts.ChangeSource"
        )
    return source


def make_sink(definition: SinkDefinition) -> PipelineSink:
    """Make the sink of a definition.

    Raises:
        PluginError: Its type is unknown, or cannot be loaded.
        OptionsError: Its options are invalid; the message lists all problems.
    """
    sink: PipelineSink = _make(PIPELINE_SINK, "sink", definition)
    return sink


def _make(kind: Kind[Any], side: str, definition: SourceDefinition | SinkDefinition) -> Any:
    plugin_class = plugin_manager().load(kind, definition.type)
    parser = OptionParser(side, definition.options)
    options = parser.take(plugin_class.Options)
    parser.finish()
    plugin = plugin_class(options)
    for problem in plugin.problems():
        parser.report(problem.sentence)
    parser.finish()
    return plugin
