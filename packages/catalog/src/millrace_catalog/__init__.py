"""Schemas of Kafka topics: inferred from what messages hold, widened, and followed as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_catalog.kafka_json.catalog import KafkaJsonCatalog as KafkaJsonCatalog

__all__ = ["KafkaJsonCatalog"]


def __getattr__(name: str) -> Any:
    # Types and inference need no Kafka client, which the catalog does
    if name in __all__:
        from millrace_catalog.kafka_json.catalog import KafkaJsonCatalog

        return KafkaJsonCatalog
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
