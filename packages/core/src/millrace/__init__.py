"""A plugin-based Kafka connector for PySpark.

``spark.read.format("millrace")`` needs no import of this package; what it offers beside that is loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.api.bounded import await_end as await_end
    from millrace.api.explain import explain_decode as explain_decode
    from millrace.api.metrics import metrics as metrics
    from millrace.api.metrics_listener import MetricsListener as MetricsListener
    from millrace.api.offsets import KafkaOffsetResetStrategy as KafkaOffsetResetStrategy
    from millrace.api.offsets import KafkaOffsetsInitializer as KafkaOffsetsInitializer
    from millrace.api.record_serializer import KafkaRecordSerializationSchema as KafkaRecordSerializationSchema
    from millrace.api.session import local_session as local_session
    from millrace.api.sink import DeliveryGuarantee as DeliveryGuarantee
    from millrace.api.sink import KafkaSink as KafkaSink
    from millrace.api.sink_metrics import SinkMetrics as SinkMetrics
    from millrace.api.source import KafkaSource as KafkaSource
    from millrace.contracts.offsets import TopicPartition as TopicPartition

__all__ = [
    "DeliveryGuarantee",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaSink",
    "KafkaSource",
    "MetricsListener",
    "SinkMetrics",
    "TopicPartition",
    "__version__",
    "await_end",
    "explain_decode",
    "local_session",
    "metrics",
]

_MODULES = {
    "DeliveryGuarantee": "millrace.api.sink",
    "KafkaRecordSerializationSchema": "millrace.api.record_serializer",
    "KafkaSink": "millrace.api.sink",
    "KafkaSource": "millrace.api.source",
    "MetricsListener": "millrace.api.metrics_listener",
    "KafkaOffsetResetStrategy": "millrace.api.offsets",
    "KafkaOffsetsInitializer": "millrace.api.offsets",
    "SinkMetrics": "millrace.api.sink_metrics",
    "TopicPartition": "millrace.contracts.offsets",
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
