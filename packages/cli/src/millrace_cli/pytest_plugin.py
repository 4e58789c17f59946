"""A pytest plugin that replays recordings into topics; pytest loads it wherever this package is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from millrace_broker import KafkaBroker
    from millrace_cli.recordings.contents import Recording

_MARK = "millrace_recording"
_FIXTURE = "millrace_topic"
_MAX_NAME = 100
_VISIBLE_TIMEOUT_S, _POLL_S = 60.0, 0.02


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}(file, *, shift_time=False): replay a recording of millrace record, a file next to the test's, into "
        f"the topic of the fixture {_FIXTURE}",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check that a test with a recording has a topic for it."""
    if item.get_closest_marker(_MARK) and _FIXTURE not in getattr(item, "fixturenames", ()):
        pytest.fail(f"@pytest.mark.{_MARK} replays into the topic of the fixture {_FIXTURE}: add it", pytrace=False)


@pytest.fixture
def millrace_topic(millrace_kafka_broker: KafkaBroker, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a topic of the test's own, which is deleted after it.

    With ``@pytest.mark.millrace_recording("orders.parquet")``, the topic has the messages of that recording, each in
    its recorded partition; otherwise it is empty and has one partition. If the test has the fixture
    ``millrace_registry``, too, that registry has the schemas of the recording.
    """
    from uuid import uuid4

    mark = request.node.get_closest_marker(_MARK)
    words = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name).strip("-")
    topic = f"{words[:_MAX_NAME]}-{uuid4().hex[:8]}"
    if mark is None:
        with new_topic(millrace_kafka_broker, topic):
            yield topic
    else:
        url = request.getfixturevalue("millrace_registry").url if "millrace_registry" in request.fixturenames else None
        with _recorded_topic(millrace_kafka_broker, topic, request.path.parent, url, *mark.args, **mark.kwargs):
            yield topic


@contextmanager
def new_topic(
    broker: KafkaBroker,
    topic: str,
    partitions: int = 1,
    settings: Mapping[str, str] | None = None,
    delete: Callable[[KafkaBroker, str], None] | None = None,
) -> Iterator[None]:
    """Create a topic, which is deleted when the block ends, also with an error.

    Args:
        broker: The broker.
        topic: The topic's name.
        partitions: The number of its partitions.
        settings: Its settings.
        delete: Deletes it; None to ask the broker for that.
    """
    broker.create_topic(topic, partitions, settings)
    try:
        yield
    finally:
        (delete or _delete)(broker, topic)


@contextmanager
def _recorded_topic(
    broker: KafkaBroker, topic: str, folder: Path, registry: str | None, file: str | Path, *, shift_time: bool = False
) -> Iterator[None]:
    from millrace_cli.recordings.files import open_recording

    recording = open_recording(folder / file)
    # Messages of any age stay, for as long as the test needs them
    with new_topic(broker, topic, recording.partition_count, {"retention.ms": "-1"}):
        _replay(broker, topic, recording, registry, shift_time=shift_time)
        yield


def _replay(broker: KafkaBroker, topic: str, recording: Recording, registry: str | None, *, shift_time: bool) -> None:
    from millrace.contracts import TopicPartition
    from millrace.kafka.admin import KafkaAdmin
    from millrace.kafka.retry import poll
    from millrace.options.secrets import Properties
    from millrace_cli.recordings.replay import RecordingReplay, default_group, replay_recording

    replay = RecordingReplay(
        topic, default_group(recording, topic), keep_partitions=True, shift_time=shift_time, registry=registry
    )
    client = Properties({"bootstrap.servers": broker.bootstrap_servers})
    replay_recording(client, recording, replay)
    # Brokers answer a commit before its messages can be read
    admin = KafkaAdmin(client)
    partitions = [TopicPartition(topic, number) for number in range(recording.partition_count)]
    poll(
        lambda: admin.end(partitions) == admin.high_watermarks(partitions),
        timeout_s=_VISIBLE_TIMEOUT_S,
        interval_s=_POLL_S,
    )


def _delete(broker: KafkaBroker, topic: str) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.delete_topics([topic], request_timeout=30)[topic].result(35)
