"""The kinds of plugins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from millrace.contracts import (
        Catalog,
        DeadLetterCollector,
        Format,
        HeaderFilter,
        MetricsReporter,
        OffsetInitializer,
        Partitioner,
        PipelineSink,
        PipelineSource,
        Plugin,
        SchemaInference,
        StateBackend,
        TableFactory,
        TokenProvider,
    )

P = TypeVar("P", bound="Plugin")


@dataclass(frozen=True)
class Kind(Generic[P]):
    """A kind of plugin.

    Attributes:
        name: Its name in messages, such as ``"format"``.
        hook: The hook that returns its plugins.
        base: The import string of the class that its plugins subclass, ``module:Class``.
    """

    name: str
    hook: str
    base: str


FORMAT: Kind[Format] = Kind("format", "millrace_formats", "millrace.contracts:Format")
PARTITIONER: Kind[Partitioner] = Kind("partitioner", "millrace_partitioners", "millrace.contracts:Partitioner")
OFFSET_INITIALIZER: Kind[OffsetInitializer] = Kind(
    "offset initializer", "millrace_offset_initializers", "millrace.contracts:OffsetInitializer"
)
HEADER_FILTER: Kind[HeaderFilter] = Kind("header filter", "millrace_header_filters", "millrace.contracts:HeaderFilter")
SCHEMA_INFERENCE: Kind[SchemaInference] = Kind(
    "schema inference", "millrace_schema_inferences", "millrace.contracts:SchemaInference"
)
CATALOG: Kind[Catalog] = Kind("catalog", "millrace_catalogs", "millrace.contracts:Catalog")
TOKEN_PROVIDER: Kind[TokenProvider] = Kind(
    "token provider", "millrace_token_providers", "millrace.contracts:TokenProvider"
)
DEAD_LETTER_COLLECTOR: Kind[DeadLetterCollector] = Kind(
    "dead letter collector", "millrace_dead_letter_collectors", "millrace.contracts:DeadLetterCollector"
)
TABLE_FACTORY: Kind[TableFactory] = Kind("table factory", "millrace_table_factories", "millrace.contracts:TableFactory")
PIPELINE_SOURCE: Kind[PipelineSource] = Kind(
    "pipeline source", "millrace_pipeline_sources", "millrace.contracts:PipelineSource"
)
PIPELINE_SINK: Kind[PipelineSink] = Kind("pipeline sink", "millrace_pipeline_sinks", "millrace.contracts:PipelineSink")
STATE_BACKEND: Kind[StateBackend] = Kind("state backend", "millrace_state_backends", "millrace.contracts:StateBackend")
METRICS_REPORTER: Kind[MetricsReporter] = Kind(
    "metrics reporter", "millrace_metrics_reporters", "millrace.contracts:MetricsReporter"
)

KINDS: tuple[Kind[Any], ...] = (
    FORMAT,
    PARTITIONER,
    OFFSET_INITIALIZER,
    HEADER_FILTER,
    SCHEMA_INFERENCE,
    CATALOG,
    TOKEN_PROVIDER,
    DEAD_LETTER_COLLECTOR,
    STATE_BACKEND,
    TABLE_FACTORY,
    PIPELINE_SOURCE,
    PIPELINE_SINK,
    METRICS_REPORTER,
)
