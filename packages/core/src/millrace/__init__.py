"""A plugin-based Kafka connector for PySpark.

``spark.read.format("millrace")`` needs no import of this package; everything else it offers is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.api.bounded import await_end as await_end
    from millrace.api.explain import explain_decode as explain_decode
    from millrace.api.metrics import metrics as metrics
    from millrace.api.metrics_listener import MetricsListener as MetricsListener
    from millrace.api.metrics_model import PartitionMetrics as PartitionMetrics
    from millrace.api.metrics_model import QueryMetrics as QueryMetrics
    from millrace.api.metrics_model import SinkMetrics as SinkMetrics
    from millrace.api.metrics_model import SourceMetrics as SourceMetrics
    from millrace.api.offsets import KafkaOffsetResetStrategy as KafkaOffsetResetStrategy
    from millrace.api.offsets import KafkaOffsetsInitializer as KafkaOffsetsInitializer
    from millrace.api.offsets import KafkaTopicPartition as KafkaTopicPartition
    from millrace.api.record_serializer import KafkaRecordSerializationSchema as KafkaRecordSerializationSchema
    from millrace.api.session import local_session as local_session
    from millrace.api.sink import DeliveryGuarantee as DeliveryGuarantee
    from millrace.api.sink import KafkaSink as KafkaSink
    from millrace.api.sink_metrics import SinkMetricsCollector as SinkMetricsCollector
    from millrace.api.source import KafkaSource as KafkaSource

__all__ = [
    "DeliveryGuarantee",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaSink",
    "KafkaSource",
    "KafkaTopicPartition",
    "MetricsListener",
    "PartitionMetrics",
    "QueryMetrics",
    "SinkMetrics",
    "SinkMetricsCollector",
    "SourceMetrics",
    "__version__",
    "await_end",
    "explain_decode",
    "local_session",
    "metrics",
]

_MODULES = {
    "DeliveryGuarantee": "millrace.api.sink",
    "KafkaOffsetResetStrategy": "millrace.api.offsets",
    "KafkaOffsetsInitializer": "millrace.api.offsets",
    "KafkaRecordSerializationSchema": "millrace.api.record_serializer",
    "KafkaSink": "millrace.api.sink",
    "KafkaSource": "millrace.api.source",
    "KafkaTopicPartition": "millrace.api.offsets",
    "MetricsListener": "millrace.api.metrics_listener",
    "PartitionMetrics": "millrace.api.metrics_model",
    "QueryMetrics": "millrace.api.metrics_model",
    "SinkMetrics": "millrace.api.metrics_model",
    "SinkMetricsCollector": "millrace.api.sink_metrics",
    "SourceMetrics": "millrace.api.metrics_model",
    "await_end": "millrace.api.bounded",
    "explain_decode": "millrace.api.explain",
    "local_session": "millrace.api.session",
    "metrics": "millrace.api.metrics",
}


def __getattr__(name: str) -> Any:
    # Spark imports this package in every session, where none of these is needed
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("millrace-core")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
