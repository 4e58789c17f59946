"""A real Apache Kafka on this machine, for tests, the demo and trying things out.

>>> from millrace.embedded import KafkaBroker
>>> with KafkaBroker() as broker:  # doctest: +SKIP
...     broker.create_topic("orders", partitions=4)
...     print(broker.bootstrap_servers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace.embedded.broker import KafkaBroker
    from millrace.embedded.cluster import KafkaCluster
    from millrace.embedded.listener import Listener

__all__ = ["KafkaBroker", "KafkaCluster", "Listener"]


def __getattr__(name: str) -> object:
    # `import millrace.embedded` stays cheap, since the command line imports it for its help texts
    if name == "KafkaBroker":
        from millrace.embedded.broker import KafkaBroker

        return KafkaBroker
    if name == "KafkaCluster":
        from millrace.embedded.cluster import KafkaCluster

        return KafkaCluster
    if name == "Listener":
        from millrace.embedded.listener import Listener

        return Listener
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
