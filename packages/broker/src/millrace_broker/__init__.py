"""A real Apache Kafka on this machine, for tests, the demo and trying things out.

>>> from millrace_broker import KafkaBroker
>>> with KafkaBroker() as broker:  # doctest: +SKIP
...     broker.create_topic("orders", partitions=4)
...     print(broker.bootstrap_servers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace_broker.broker import KafkaBroker
    from millrace_broker.cluster import KafkaCluster
    from millrace_broker.listener import Listener

__all__ = ["KafkaBroker", "KafkaCluster", "Listener"]


def __getattr__(name: str) -> object:
    # `import millrace_broker` stays cheap, since the command line imports it for its help texts
    if name == "KafkaBroker":
        from millrace_broker.broker import KafkaBroker

        return KafkaBroker
    if name == "KafkaCluster":
        from millrace_broker.cluster import KafkaCluster

        return KafkaCluster
    if name == "Listener":
        from millrace_broker.listener import Listener

        return Listener
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
