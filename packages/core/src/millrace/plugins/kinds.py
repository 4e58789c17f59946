"""The kinds of plugins, and the packages that offer well-known ones."""

from __future__ import annotations

from dataclasses import dataclass, field
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
        packages: The known distributions with plugins of this kind, and the names of these plugins.
    """

    name: str
    hook: str
    base: str
    packages: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def package_for(self, name: str) -> str | None:
        """Return the well-known distribution that offers the plugin ``name``; None if there is none."""
        return next((package for package, names in self.packages.items() if name in names), None)


FORMAT: Kind[Format] = Kind(
    "format",
    "millrace_formats",
    "millrace.contracts:Format",
    {
        "millrace-formats": (
            "raw",
            "json",
            "json-confluent",
            "csv",
            "avro",
            "avro-confluent",
            "protobuf",
            "protobuf-confluent",
            "debezium-json",
            "canal-json",
            "maxwell-json",
            "ogg-json",
            "debezium-avro-confluent",
        ),
        "millrace-catalog": ("json-evolving",),
    },
)
PARTITIONER: Kind[Partitioner] = Kind(
    "partitioner",
    "millrace_partitioners",
    "millrace.contracts:Partitioner",
    {"millrace-partitioners": ("default", "fixed", "round-robin")},
)
OFFSET_INITIALIZER: Kind[OffsetInitializer] = Kind(
    "offset initializer",
    "millrace_offset_initializers",
    "millrace.contracts:OffsetInitializer",
    {"millrace-offsets": ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")},
)
HEADER_FILTER: Kind[HeaderFilter] = Kind(
    "header filter",
    "millrace_header_filters",
    "millrace.contracts:HeaderFilter",
    {"millrace-filters": ("expression",)},
)
SCHEMA_INFERENCE: Kind[SchemaInference] = Kind(
    "schema inference",
    "millrace_schema_inferences",
    "millrace.contracts:SchemaInference",
    {"millrace-catalog": ("json", "canal-json", "debezium-json")},
)
CATALOG: Kind[Catalog] = Kind(
    "catalog", "millrace_catalogs", "millrace.contracts:Catalog", {"millrace-catalog": ("kafka",)}
)
TOKEN_PROVIDER: Kind[TokenProvider] = Kind(
    "token provider",
    "millrace_token_providers",
    "millrace.contracts:TokenProvider",
    {"millrace-tokens": ("aws-msk-iam", "azure", "google")},
)
DEAD_LETTER_COLLECTOR: Kind[DeadLetterCollector] = Kind(
    "dead letter collector",
    "millrace_dead_letter_collectors",
    "millrace.contracts:DeadLetterCollector",
    {"millrace-dead-letters": ("logger", "topic")},
)
TABLE_FACTORY: Kind[TableFactory] = Kind(
    "table factory",
    "millrace_table_factories",
    "millrace.contracts:TableFactory",
    {"millrace-sql": ("blackhole", "datagen", "filesystem", "jdbc", "kafka", "print", "upsert-kafka")},
)
PIPELINE_SOURCE: Kind[PipelineSource] = Kind(
    "pipeline source", "millrace_pipeline_sources", "millrace.contracts:PipelineSource", {"millrace-cdc": ("kafka",)}
)
PIPELINE_SINK: Kind[PipelineSink] = Kind(
    "pipeline sink", "millrace_pipeline_sinks", "millrace.contracts:PipelineSink", {"millrace-cdc": ("kafka",)}
)
STATE_BACKEND: Kind[StateBackend] = Kind(
    "state backend",
    "millrace_state_backends",
    "millrace.contracts:StateBackend",
    {"millrace-state": ("lmdb",)},
)
METRICS_REPORTER: Kind[MetricsReporter] = Kind(
    "metrics reporter",
    "millrace_metrics_reporters",
    "millrace.contracts:MetricsReporter",
    {"millrace-ui": ("prometheus",)},
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
