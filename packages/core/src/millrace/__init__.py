"""A plugin-based Kafka connector for PySpark.

``spark.read.format("millrace")`` needs no import of this package; everything else it offers is loaded on first use. In
programs that import it, a terminal shows failures of millrace in short (`millrace.excepthook`), and Spark starts the
program's own Python where nobody has chosen one (`millrace.spark_python`).

- Sessions: `local_session`, `set_active_session`, `thread_properties`, `install_short_tracebacks`.
- Queries: `await_end`, `repartition_by_key`, `upsert_batches`, `normalize_upserts`.
- Topics without Spark: `read_arrow`, its `ArrowReader` and `ArrowSplit`.
- Before a query, and when it fails or is idle: `probe`, `plan`, `why`, `explain_decode`, `explain_failure`.
- Metrics: `metrics` and its `QueryMetrics`, `SourceMetrics`, `PartitionMetrics`, `SinkMetrics`; `MetricsListener`,
  `SinkMetricsCollector`; `report_metrics`, `ui`; `exactly_once_state`.
- Builders as in PyFlink: `KafkaSource`, `KafkaSink`, `KafkaOffsetsInitializer`, `KafkaOffsetResetStrategy`,
  `KafkaTopicPartition`, `KafkaRecordSerializationSchema`, `SimpleStringSchema`, `KafkaTopicSelector`, `ProducerRecord`,
  `DeliveryGuarantee`.
- For plugins: `millrace.contracts`, `millrace.options`, `millrace.errors`, `millrace.plugins`, `millrace.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace import excepthook, spark_python
from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace.api.arrow import ArrowReader as ArrowReader
    from millrace.api.arrow import ArrowSplit as ArrowSplit
    from millrace.api.arrow import read_arrow as read_arrow
    from millrace.api.bounded import await_end as await_end
    from millrace.api.exactly_once_state import exactly_once_state as exactly_once_state
    from millrace.api.explain import explain_decode as explain_decode
    from millrace.api.key_order import repartition_by_key as repartition_by_key
    from millrace.api.key_order import upsert_batches as upsert_batches
    from millrace.api.metrics import metrics as metrics
    from millrace.api.metrics_listener import MetricsListener as MetricsListener
    from millrace.api.offsets import KafkaOffsetResetStrategy as KafkaOffsetResetStrategy
    from millrace.api.offsets import KafkaOffsetsInitializer as KafkaOffsetsInitializer
    from millrace.api.offsets import KafkaTopicPartition as KafkaTopicPartition
    from millrace.api.plan import plan as plan
    from millrace.api.probe import probe as probe
    from millrace.api.record_functions import KafkaTopicSelector as KafkaTopicSelector
    from millrace.api.record_functions import ProducerRecord as ProducerRecord
    from millrace.api.record_serializer import KafkaRecordSerializationSchema as KafkaRecordSerializationSchema
    from millrace.api.reporting import report_metrics as report_metrics
    from millrace.api.session import local_session as local_session
    from millrace.api.session import set_active_session as set_active_session
    from millrace.api.session import thread_properties as thread_properties
    from millrace.api.sink import DeliveryGuarantee as DeliveryGuarantee
    from millrace.api.sink import KafkaSink as KafkaSink
    from millrace.api.sink_metrics import SinkMetricsCollector as SinkMetricsCollector
    from millrace.api.source import KafkaSource as KafkaSource
    from millrace.api.spark_state import normalize_upserts as normalize_upserts
    from millrace.api.string_schema import SimpleStringSchema as SimpleStringSchema
    from millrace.api.tracebacks import install_short_tracebacks as install_short_tracebacks
    from millrace.api.ui import ui as ui
    from millrace.api.why import why as why
    from millrace.contracts.metrics import PartitionMetrics as PartitionMetrics
    from millrace.contracts.metrics import QueryMetrics as QueryMetrics
    from millrace.contracts.metrics import SinkMetrics as SinkMetrics
    from millrace.contracts.metrics import SourceMetrics as SourceMetrics
    from millrace.failures import explain_failure as explain_failure

__all__ = [
    "ArrowReader",
    "ArrowSplit",
    "DeliveryGuarantee",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaSink",
    "KafkaSource",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "MetricsListener",
    "PartitionMetrics",
    "ProducerRecord",
    "QueryMetrics",
    "SimpleStringSchema",
    "SinkMetrics",
    "SinkMetricsCollector",
    "SourceMetrics",
    "__version__",
    "await_end",
    "exactly_once_state",
    "explain_decode",
    "explain_failure",
    "install_short_tracebacks",
    "local_session",
    "metrics",
    "normalize_upserts",
    "plan",
    "probe",
    "read_arrow",
    "repartition_by_key",
    "report_metrics",
    "set_active_session",
    "thread_properties",
    "ui",
    "upsert_batches",
    "why",
]

excepthook.use_for_millrace()
spark_python.use_this_python_by_default()

_lazy_attribute, __dir__ = lazy_imports(
    __name__,
    {
        "millrace.api.arrow": ["ArrowReader", "ArrowSplit", "read_arrow"],
        "millrace.api.bounded": ["await_end"],
        "millrace.api.exactly_once_state": ["exactly_once_state"],
        "millrace.api.explain": ["explain_decode"],
        "millrace.api.key_order": ["repartition_by_key", "upsert_batches"],
        "millrace.api.metrics": ["metrics"],
        "millrace.api.metrics_listener": ["MetricsListener"],
        "millrace.api.reporting": ["report_metrics"],
        "millrace.api.ui": ["ui"],
        "millrace.contracts.metrics": ["PartitionMetrics", "QueryMetrics", "SinkMetrics", "SourceMetrics"],
        "millrace.api.plan": ["plan"],
        "millrace.api.offsets": ["KafkaOffsetResetStrategy", "KafkaOffsetsInitializer", "KafkaTopicPartition"],
        "millrace.api.probe": ["probe"],
        "millrace.api.record_functions": ["KafkaTopicSelector", "ProducerRecord"],
        "millrace.api.record_serializer": ["KafkaRecordSerializationSchema"],
        "millrace.api.session": ["local_session", "set_active_session", "thread_properties"],
        "millrace.api.sink": ["DeliveryGuarantee", "KafkaSink"],
        "millrace.api.sink_metrics": ["SinkMetricsCollector"],
        "millrace.api.source": ["KafkaSource"],
        "millrace.api.spark_state": ["normalize_upserts"],
        "millrace.api.string_schema": ["SimpleStringSchema"],
        "millrace.api.tracebacks": ["install_short_tracebacks"],
        "millrace.api.why": ["why"],
        "millrace.failures": ["explain_failure"],
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("millrace-core")
    return _lazy_attribute(name)
