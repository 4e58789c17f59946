"""Compare the clock of this host with those of brokers and executors.

A broker tells its time to nobody. There are two ways around that, and neither writes anything: the controller says when
it has answered a question about the quorum (DescribeQuorum, Kafka 3.3 and newer), and some records have times that
brokers have written, the newest of which must have passed here, too.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from millrace.diagnosis import wire
from millrace.diagnosis.address import Address, open_connection
from millrace.diagnosis.findings import Finding, ok, warning
from millrace.kafka.raw_requests import NotKafkaError

MOST_S = 5.0
"""A difference that matters to nobody."""

INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")
"""Topics to which brokers alone write, by their own clocks."""

_REMEDY = (
    "let both hosts take their time from the same servers (NTP): times of records, 'scan.startup.timestamp-millis', "
    "watermarks, certificates and tokens depend on it"
)


class Reading(NamedTuple):
    """A time that another host has told.

    Attributes:
        at: That host's time, in seconds since 1970.
        asked: This host's time before it was asked.
        answered: This host's time afterwards.
    """

    at: float
    asked: float
    answered: float

    @property
    def ahead_s(self) -> float:
        """Seconds by which the other clock is ahead at least; negative where it is behind, 0 where it may be right."""
        return max(self.at - self.answered, 0.0) + min(self.at - self.asked, 0.0)


def now() -> float:
    """Return this host's time, in seconds since 1970."""
    return time.time()


def compare(reading: Reading, whose: str, target: str) -> Finding:
    """Return whether a clock and that of this host differ."""
    if abs(reading.ahead_s) <= MOST_S:
        return ok("clock", target, f"{whose} and this host's agree within {MOST_S:.0f} s")
    direction = "ahead of" if reading.ahead_s > 0 else "behind"
    difference = datetime.timedelta(seconds=round(abs(reading.ahead_s)))
    return warning("clock", target, f"{whose} is {difference} {direction} this host's", _REMEDY)


def controller_clock(addresses: Iterable[Address], protocol: str) -> Reading | None:
    """Ask the first broker that answers for the time of its controller.

    Returns:
        The time; None where it is not told: brokers before 3.3 or with ZooKeeper, and users that may not describe the
        cluster.
    """
    for address in addresses:
        try:
            with open_connection(address, with_tls=protocol.endswith("SSL")) as connection:
                asked = now()
                told_ms = wire.controller_time_ms(connection)
                answered = now()
        except (NotKafkaError, OSError):
            continue
        return None if told_ms is None else Reading(told_ms / 1000, asked, answered)
    return None


def newest_broker_time(admin: AdminClient, topics: Sequence[str], timeout_s: float) -> tuple[str, float] | None:
    """Return the newest time that a broker has written into a topic, and that topic; None where there is none.

    Args:
        admin: A client.
        topics: Topics that this user may know something of; only those with LogAppendTime count.
        timeout_s: Of each of three requests.
    """
    existing = admin.list_topics(timeout=timeout_s).topics
    known = [topic for topic in topics if topic in existing]
    by_brokers = [*INTERNAL_TOPICS, *_with_append_times(admin, known, timeout_s)]
    partitions = [
        TopicPartition(topic, number)
        for topic in by_brokers
        if topic in existing
        for number in existing[topic].partitions
    ]
    if not partitions:
        return None
    newest = admin.list_offsets(
        dict.fromkeys(partitions, OffsetSpec.max_timestamp()),
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        request_timeout=timeout_s,
    )
    times = [(result.timestamp, partition.topic) for partition, result in _results(newest.items(), timeout_s)]
    at, topic = max(times, default=(-1, ""))
    return (topic, at / 1000) if at >= 0 else None


def compare_past(topic: str, at: float) -> Finding:
    """Return whether a broker has written a time that has not come here."""
    passed = now() - at
    if passed < -MOST_S:
        return compare(Reading(at, now(), now()), "the brokers' clock", f"topic {topic}")
    ago = datetime.timedelta(seconds=max(round(passed), 0))
    message = (
        f"the newest time that a broker has written was {ago} ago by this host's clock; brokers show this user "
        "no more of their clocks"
    )
    return ok("clock", f"topic {topic}", message)


def _with_append_times(admin: AdminClient, topics: Sequence[str], timeout_s: float) -> list[str]:
    if not topics:
        return []
    asked = admin.describe_configs(
        [ConfigResource(ResourceType.TOPIC, topic) for topic in topics], request_timeout=timeout_s
    )
    return [
        resource.name
        for resource, config in _results(asked.items(), timeout_s)
        if config["message.timestamp.type"].value == "LogAppendTime"
    ]


def _results(futures: Iterable[tuple[Any, Any]], timeout_s: float) -> Iterator[tuple[Any, Any]]:
    """Wait for answers, and leave out those that are refused."""
    for asked, future in futures:
        try:
            yield asked, future.result(timeout_s)
        except KafkaException:
            continue
