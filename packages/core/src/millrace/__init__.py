"""A plugin-based Kafka connector for PySpark.

``spark.read.format("millrace")`` needs no import of this package; what it offers beside that is loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.builders.offsets import OffsetResetStrategy as OffsetResetStrategy
    from millrace.builders.offsets import OffsetsInitializer as OffsetsInitializer
    from millrace.builders.record_serializer import KafkaRecordSerializationSchema as KafkaRecordSerializationSchema
    from millrace.builders.sink import DeliveryGuarantee as DeliveryGuarantee
    from millrace.builders.sink import KafkaSink as KafkaSink
    from millrace.builders.source import KafkaSource as KafkaSource
    from millrace.contracts.offsets import TopicPartition as TopicPartition
    from millrace.monitoring.sink_metrics import SinkMetrics as SinkMetrics
    from millrace.monitoring.view import metrics as metrics
    from millrace.spark.bounded import await_end as await_end
    from millrace.spark.explain import explain_decode as explain_decode
    from millrace.spark.metrics_listener import MetricsListener as MetricsListener
    from millrace.spark.session import local_session as local_session

__all__ = [
    "DeliveryGuarantee",
    "KafkaRecordSerializationSchema",
    "KafkaSink",
    "KafkaSource",
    "MetricsListener",
    "OffsetResetStrategy",
    "OffsetsInitializer",
    "SinkMetrics",
    "TopicPartition",
    "__version__",
    "await_end",
    "explain_decode",
    "local_session",
    "metrics",
]

_MODULES = {
    "DeliveryGuarantee": "millrace.builders.sink",
    "KafkaRecordSerializationSchema": "millrace.builders.record_serializer",
    "KafkaSink": "millrace.builders.sink",
    "KafkaSource": "millrace.builders.source",
    "MetricsListener": "millrace.spark.metrics_listener",
    "OffsetResetStrategy": "millrace.builders.offsets",
    "OffsetsInitializer": "millrace.builders.offsets",
    "SinkMetrics": "millrace.monitoring.sink_metrics",
    "TopicPartition": "millrace.contracts.offsets",
    "await_end": "millrace.spark.bounded",
    "explain_decode": "millrace.spark.explain",
    "local_session": "millrace.spark.session",
    "metrics": "millrace.monitoring.view",
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
