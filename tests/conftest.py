"""One broker and one Spark session per test process, and topics that are deleted after each test."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_broker import KafkaBroker
    from support.registry import SchemaRegistry

SPARK_OF_CONNECTOR = "4.2"
"""The release for which Spark's own Kafka connector is published where tests fetch it."""

# Of drivers and of all that they start; removed at the end
STATE = tempfile.TemporaryDirectory(prefix="millrace-state-")
os.environ["XDG_STATE_HOME"] = STATE.name

# Every process imports the plugins of tests, also the one that plans a stream, which gets no files of `addPyFile`
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(Path(__file__).parent)]))

# How slow the machine is must fail no test
PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# The same examples in every run; fuzzing is a job of its own
settings.register_profile("suite", derandomize=True, max_examples=100, **PATIENT)
# More of them, by `tox -e nightly`
settings.register_profile("nightly", derandomize=True, max_examples=500, **PATIENT)
# Rounds of some minutes, see fuzz.py
settings.register_profile("fuzz", max_examples=2_000, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that compare with something that is not there, without a line for each of them."""
    from support.cases import have_cases, have_golden_specs

    there = {
        "cases": have_cases(),
        "flink_cdc": have_golden_specs(),
        "spark_connector": version("pyspark").startswith(f"{SPARK_OF_CONNECTOR}."),
    }
    absent = [name for name, is_there in there.items() if not is_there]
    items[:] = [item for item in items if not any(map(item.get_closest_marker, absent))]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run tests that share expensive fixtures in one worker."""
    from support.scheduling import make_scheduler

    return make_scheduler(config, log)


@pytest.fixture(scope="session")
def broker(millrace_kafka_broker: KafkaBroker) -> KafkaBroker:
    """A real Apache Kafka, for the whole session; from the pytest plugin of millrace-broker."""
    return millrace_kafka_broker


@pytest.fixture(scope="session")
def registry() -> Iterator[SchemaRegistry]:
    """A real schema registry, for the whole session."""
    from support.registry import SchemaRegistry

    with SchemaRegistry() as running:
        yield running


@pytest.fixture(scope="session")
def spark_home() -> Iterator[Path]:
    """The ``SPARK_HOME`` of all that this process starts from now on, with which drivers start in half the time."""
    from support.class_archive import use_class_archive

    with use_class_archive() as home:
        yield home


@pytest.fixture(scope="session")
def spark(spark_home: Path) -> Iterator[SparkSession]:
    """A local Spark session that tries a failed task once more, for the whole session."""
    from support.queries import local_session

    with local_session(attempts=2) as session:
        yield session


@pytest.fixture
def nothing_left(broker: KafkaBroker, spark: SparkSession) -> Iterator[None]:
    """Check that no process, no thread and no client of the test goes on after it."""
    from support.leftovers import running, wait_until_gone

    before = running()
    yield
    wait_until_gone(before)


@pytest.fixture
def make_topic(broker: KafkaBroker, request: pytest.FixtureRequest) -> Iterator[Callable[..., str]]:
    """Make topics with names of their own; they are deleted after the test."""
    from support.admin import delete_topics
    from support.names import unique_name

    made: list[str] = []
    numbers = itertools.count()

    def make(partitions: int = 1, config: dict[str, str] | None = None, name: str | None = None) -> str:
        name = name or unique_name(request.node.originalname, next(numbers))
        broker.create_topic(name, partitions, config)
        made.append(name)
        return name

    yield make
    if made:
        delete_topics(broker.bootstrap_servers, made)


@pytest.fixture
def connection(broker: KafkaBroker) -> dict[str, Any]:
    """The option that says where the broker is."""
    return {"properties.bootstrap.servers": broker.bootstrap_servers}
