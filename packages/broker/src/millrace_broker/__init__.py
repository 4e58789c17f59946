"""A real Apache Kafka on this machine, for tests, demos and experiments.

>>> from millrace_broker import KafkaBroker
>>> with KafkaBroker() as broker:  # doctest: +SKIP
...     broker.create_topic("orders", partitions=4)
...     print(broker.bootstrap_servers)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace_broker.broker import KafkaBroker
    from millrace_broker.cluster import KafkaCluster
    from millrace_broker.listeners import Listener

__all__ = ["KafkaBroker", "KafkaCluster", "Listener"]

_MODULES = {"KafkaBroker": "broker", "KafkaCluster": "cluster", "Listener": "listeners"}


def __getattr__(name: str) -> object:
    # Imported on first use: pytest loads the plugin of this package in every test run
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
