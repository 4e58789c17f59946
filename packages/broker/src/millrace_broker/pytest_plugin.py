"""A pytest plugin with a Kafka broker and a schema registry; pytest loads it wherever this package is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from millrace_broker import ApicurioRegistry, KafkaBroker


@pytest.fixture(scope="session")
def millrace_kafka_broker() -> Iterator[KafkaBroker]:
    """A real Apache Kafka broker, started when the first test asks for it and stopped after the last test.

    With pytest-xdist each worker has its own broker.
    """
    # Imported here, since pytest loads this plugin in test runs that need no broker, too
    from millrace_broker import KafkaBroker

    # The optimizing compiler would compete with the tests for the processor
    with KafkaBroker(java_options=["-XX:TieredStopAtLevel=1"]) as broker:
        yield broker


@pytest.fixture(scope="session")
def millrace_registry() -> Iterator[ApicurioRegistry]:
    """A real schema registry, Apicurio's, started when the first test asks for it and stopped after the last test."""
    from millrace_broker import ApicurioRegistry

    with ApicurioRegistry() as registry:
        yield registry
