"""The definition of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field

from millrace.contracts import SchemaChangeType
from millrace.options.secrets import Properties
from millrace_cdc.definitions.functions import FunctionDefinition
from millrace_cdc.definitions.pipeline_options import PipelineOptions
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.definitions.schema_changes import included_schema_changes
from millrace_cdc.definitions.sink_retries import SinkRetryOptions


@dataclass(frozen=True)
class SourceDefinition:
    """The source of a pipeline.

    Attributes:
        type: The name of its plugin.
        options: Its options as text, with secrets in place; their ``repr`` shows none of those that are named as such.
        name: Its name for people.
    """

    type: str
    options: Properties
    name: str | None = None


@dataclass(frozen=True)
class SinkDefinition:
    """The sink of a pipeline.

    Attributes:
        type: The name of its plugin.
        options: Its options as text, as those of a source.
        name: Its name for people.
        include: Tags of the schema changes to include; empty for all.
        exclude: Tags of those to exclude; None when nothing is said about it.
        retries: Retries while it is away.
    """

    type: str
    options: Properties
    name: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    retries: SinkRetryOptions = field(default_factory=SinkRetryOptions)


@dataclass(frozen=True)
class PipelineDefinition:
    """A pipeline, with references resolved.

    Attributes:
        source: Where changes come from.
        sink: Where they go.
        routes: The tables that they go to, in the order of the file.
        transforms: Columns, rows and keys, in the order of the file.
        options: Options of the whole.
        functions: Functions that transforms call.
    """

    source: SourceDefinition
    sink: SinkDefinition
    routes: tuple[RouteRule, ...] = ()
    transforms: tuple[TransformRule, ...] = ()
    options: PipelineOptions = field(default_factory=PipelineOptions)
    functions: tuple[FunctionDefinition, ...] = ()

    @property
    def name(self) -> str | None:
        """The pipeline's name."""
        return self.options.name

    @property
    def schema_changes(self) -> frozenset[SchemaChangeType]:
        """The types of schema changes that go to the sink, if it can apply them."""
        return included_schema_changes(self.sink.include, self.sink.exclude, self.options.schema_change_behavior)
