"""Write docs/pipeline-options.md: the keys of a pipeline's YAML, from their declarations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from millrace.plugins import PIPELINE_SINK, PIPELINE_SOURCE, plugin_manager
from millrace_cdc.definitions.functions import FunctionDefinition
from millrace_cdc.definitions.pipeline_options import PipelineOptions
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.definitions.sink_retries import SinkRetryOptions

PAGE = Path(__file__).with_name("pipeline-options.md")

HEAD = """# Keys of a pipeline

Generated from their declarations by `tox -e docs`.

The keys in the YAML of [change-data pipelines](pipelines.md). Names, defaults and values come from the reference. Names
are not case-sensitive. An unknown key is an error.
"""


def render(section: Callable[[str, type], str]) -> str:
    """Return the page's text.

    Args:
        section: Returns a section with a table of a dataclass's options, for a title and the dataclass.
    """
    manager = plugin_manager()
    ends = [
        section(f"`{key}` of type `{name}`", manager.load(kind, name).Options)
        for key, kind in (("source", PIPELINE_SOURCE), ("sink", PIPELINE_SINK))
        for name in manager.names(kind)
        if manager.find(kind, name).distribution.startswith("millrace-")
    ]
    every = section("`sink` of any type", SinkRetryOptions)
    rest = {
        "Rules of `route`": RouteRule,
        "Rules of `transform`": TransformRule,
        "`pipeline`": PipelineOptions,
        "Functions of `user-defined-function` in `pipeline`": FunctionDefinition,
    }
    return "\n".join([HEAD, *ends, every, *(section(title, cls) for title, cls in rest.items())])
