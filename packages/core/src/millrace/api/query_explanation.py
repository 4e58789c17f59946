"""Explain a running query: Spark's plan, and the configuration of its reads and its write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.configuration.build import configure_sink, configure_source
from millrace.errors import OptionsError, PluginError
from millrace.options.secrets import MASK
from millrace.plans.parts import PlannedOption
from millrace.plans.resolved_options import OPTION, resolved_options
from millrace.pyspark_internals import explain_streaming_query, options_of_streaming_query
from millrace.spark.options import connector_options

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_SERVERS = "properties.bootstrap.servers"
_WRITE = "write"


@dataclass(frozen=True)
class ExplainedPart:
    """A read or the write of a query.

    Attributes:
        name: ``read 1`` and so on, or ``write``.
        options: Its options with their origins; secrets are masked.
        unmasked: The options that the program has set, with secrets.
    """

    name: str
    options: tuple[PlannedOption, ...]
    unmasked: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class QueryExplanation:
    """An explanation of a query.

    Attributes:
        plan: Spark's plan as text, in which Spark masks secrets.
        parts: The reads of millrace's source and the write of its sink; none of a query of Spark Connect.
    """

    plan: str
    parts: tuple[ExplainedPart, ...]


def explain_query(query: StreamingQuery) -> QueryExplanation:
    """Explain a running query."""
    return QueryExplanation(explain_streaming_query(query), explained_parts(query))


def explained_parts(query: StreamingQuery) -> tuple[ExplainedPart, ...]:
    """Return the reads and the write of a running query, after its first micro-batch."""
    return tuple(_part(name, options) for name, options in options_of_streaming_query(query) if _is_ours(options))


def write_options(query: StreamingQuery) -> Mapping[str, str] | None:
    """Return the options, with secrets, of a running query's write by millrace's sink; None for another sink."""
    return next((part.unmasked for part in explained_parts(query) if part.name == _WRITE), None)


def _is_ours(options: Mapping[str, str]) -> bool:
    names = {name.lower() for name in options}
    return _SERVERS in names or "kafka.bootstrap.servers" in names


def _part(name: str, options: Mapping[str, str]) -> ExplainedPart:
    own_options = connector_options(options)
    try:
        config = (
            configure_sink(own_options, warns=False) if name == _WRITE else configure_source(own_options, warns=False)
        )
    except (OptionsError, PluginError):
        # Such as those of Spark's own connector; which of them are secrets is not known
        masked = tuple(PlannedOption(option, MASK, OPTION) for option in sorted(own_options))
        return ExplainedPart(name, masked, own_options)
    return ExplainedPart(name, resolved_options(config, own_options, {}, is_stream=True), own_options)
