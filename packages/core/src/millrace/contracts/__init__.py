"""The contracts of the plugin kinds: base classes, arguments and results."""

from millrace.contracts.catalog import Catalog, CatalogColumn, CatalogTable
from millrace.contracts.dead_letter_headers import Origin, dead_letter_headers, split_dead_letter_headers
from millrace.contracts.dead_letters import DeadLetter, DeadLetterCollector, RecordProducer
from millrace.contracts.format import (
    ROW_KINDS,
    ChangelogFormat,
    ConnectMessage,
    ConnectReader,
    Decoded,
    Decoder,
    Encoder,
    Format,
    MalformedMessage,
    SchemaRegistryFormat,
    SerializationContext,
)
from millrace.contracts.header_filter import HEADERS, HeaderFilter, HeaderFilterOptions, is_headers
from millrace.contracts.metrics import QueryReport
from millrace.contracts.metrics_reporter import MetricsReporter
from millrace.contracts.offsets import OffsetInitializer, OffsetLookup, StandardOffsets, TopicPartition
from millrace.contracts.partitioner import Partitioner, RecordPartitioner
from millrace.contracts.payloads import Payloads
from millrace.contracts.pipeline import (
    SOURCE_COLUMNS,
    ChangeSource,
    OptionProblem,
    PipelineDestination,
    PipelineSink,
    PipelineSource,
    SinkCapabilities,
)
from millrace.contracts.pipeline_batch import (
    CHANGE_BATCH_COLUMNS,
    SCHEMA_CHANGES,
    ChangeBatch,
    PipelineSchemaChange,
    PipelineTable,
    SchemaChangeType,
)
from millrace.contracts.plugin import NoOptions, Plugin
from millrace.contracts.schema_inference import SampledMessage, SchemaInference
from millrace.contracts.state import MAX_KEY_BYTES, KeyedStore, StateBackend, StateView, StateWriter
from millrace.contracts.table_factory import (
    ROW_KIND_COLUMN,
    ChangelogMode,
    ScanContext,
    SinkContext,
    TableColumn,
    TableDescription,
    TableFactory,
    TableSink,
    TableSource,
)
from millrace.contracts.token_provider import Token, TokenProvider

__all__ = [
    "CHANGE_BATCH_COLUMNS",
    "HEADERS",
    "MAX_KEY_BYTES",
    "ROW_KINDS",
    "ROW_KIND_COLUMN",
    "SCHEMA_CHANGES",
    "SOURCE_COLUMNS",
    "Catalog",
    "CatalogColumn",
    "CatalogTable",
    "ChangeBatch",
    "ChangeSource",
    "ChangelogFormat",
    "ChangelogMode",
    "ConnectMessage",
    "ConnectReader",
    "DeadLetter",
    "DeadLetterCollector",
    "Decoded",
    "Decoder",
    "Encoder",
    "Format",
    "HeaderFilter",
    "HeaderFilterOptions",
    "KeyedStore",
    "MalformedMessage",
    "MetricsReporter",
    "NoOptions",
    "OffsetInitializer",
    "OffsetLookup",
    "OptionProblem",
    "Origin",
    "Partitioner",
    "Payloads",
    "PipelineDestination",
    "PipelineSchemaChange",
    "PipelineSink",
    "PipelineSource",
    "PipelineTable",
    "Plugin",
    "QueryReport",
    "RecordPartitioner",
    "RecordProducer",
    "SampledMessage",
    "ScanContext",
    "SchemaChangeType",
    "SchemaInference",
    "SchemaRegistryFormat",
    "SerializationContext",
    "SinkCapabilities",
    "SinkContext",
    "StandardOffsets",
    "StateBackend",
    "StateView",
    "StateWriter",
    "TableColumn",
    "TableDescription",
    "TableFactory",
    "TableSink",
    "TableSource",
    "Token",
    "TokenProvider",
    "TopicPartition",
    "dead_letter_headers",
    "is_headers",
    "split_dead_letter_headers",
]
