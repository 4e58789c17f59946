"""Sources and sinks by the names of their plugins."""

from __future__ import annotations

from typing import Any

from millrace.contracts import PipelineSink, PipelineSource
from millrace.options.parser import OptionParser
from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace.plugins.kinds import Kind
from millrace_cdc.definitions.model import SinkDefinition, SourceDefinition


def make_source(definition: SourceDefinition) -> PipelineSource:
    """Make the source of a definition.

    Raises:
        PluginError: Its type is unknown, or cannot be loaded.
        OptionsError: Its options are invalid; the message lists all problems.
    """
    source: PipelineSource = _make(PIPELINE_SOURCE, "source", definition)
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
