"""A real Apache Kafka on this machine, for tests, demos and experiments.

>>> from millrace_broker import KafkaBroker
>>> with KafkaBroker() as broker:  # doctest: +SKIP
...     broker.create_topic("orders", partitions=4)
...     print(broker.bootstrap_servers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace_broker.broker import KafkaBroker
    from millrace_broker.cluster import KafkaCluster
    from millrace_broker.listeners import Listener
    from millrace_broker.schema_registry import ApicurioRegistry

__all__ = ["ApicurioRegistry", "KafkaBroker", "KafkaCluster", "Listener"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace_broker.broker": ["KafkaBroker"],
        "millrace_broker.cluster": ["KafkaCluster"],
        "millrace_broker.listeners": ["Listener"],
        "millrace_broker.schema_registry": ["ApicurioRegistry"],
    },
)
