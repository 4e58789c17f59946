"""Statistics that librdkafka reports of a client (``statistics.interval.ms``).

The fields are described in librdkafka's STATISTICS.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from millrace.contracts import TopicPartition
from millrace.kafka.java_metrics import java_interval_metrics, java_metrics

STATISTICS_INTERVAL = "statistics.interval.ms"
"""The client's property."""

STATISTICS_INTERVAL_MS = "5000"
"""Its default value."""

STATISTICS_OFF = {STATISTICS_INTERVAL: "0"}

POSITIONS_INTERVAL_MS = "20"
"""Milliseconds between reports of how far a consumer has fetched; for so long it may fetch too much."""

_TOTALS = {
    "consumer": ("rx", "rx_bytes", "rxmsgs", "rxmsg_bytes", "tx", "tx_bytes", "replyq"),
    "producer": ("rx", "rx_bytes", "txmsgs", "txmsg_bytes", "tx", "tx_bytes", "msg_cnt", "msg_size"),
}
"""Responses, messages and requests with their bytes, and the length of the queue: records that a consumer has not
handed out, or a producer has not delivered."""


_MESSAGE_TOTALS = '"txmsgs":'
"""Start of the last part of a report, which stays the same while no message is sent or received."""


class Statistics:
    """The latest statistics of a client; parsed only on demand.

    Averages and maxima are those of the last interval that measured any. A client reports all the time, but hands its
    reports over when it is polled: in a slow stream, many of an idle client follow the one that covers the last batch.
    """

    def __init__(self) -> None:
        self._unparsed: str | None = None
        self._unparsed_with_messages: str | None = None
        self._message_totals = ""
        self._interval_metrics: dict[str, float] = {}
        self._latest: tuple[str, dict[str, float]] = "", {}

    def settings(self) -> dict[str, Any]:
        """Return the client properties that make it report here."""
        return {"stats_cb": self._on_statistics}

    def latest(self) -> tuple[str, dict[str, float]]:
        """Return the client's name and its metrics, by librdkafka's names and by those of Java's client.

        Both are empty before the first report.

        They include ``rtt_avg_us``, the mean round trip to the slowest broker, in microseconds.
        """
        for text in self._pop_unparsed():
            report = json.loads(text)
            self._interval_metrics |= _slowest_round_trip(report) | java_interval_metrics(report)
            totals = {name: report[name] for name in _TOTALS[report["type"]]} | java_metrics(report)
            # With a number: a process may have several clients with one client id
            self._latest = report["name"], totals | self._interval_metrics
        return self._latest

    def _pop_unparsed(self) -> list[str]:
        texts = [self._unparsed_with_messages, self._unparsed]
        self._unparsed_with_messages = self._unparsed = None
        return [text for text in texts if text is not None]

    def _on_statistics(self, text: str) -> None:
        message_totals = text[text.rindex(_MESSAGE_TOTALS) :]
        if message_totals == self._message_totals:
            self._unparsed = text
        else:
            self._message_totals = message_totals
            self._unparsed_with_messages, self._unparsed = text, None


def _slowest_round_trip(report: Mapping[str, Any]) -> dict[str, float]:
    round_trips = [broker["rtt"]["avg"] for broker in report["brokers"].values() if broker["rtt"]["cnt"]]
    return {"rtt_avg_us": max(round_trips)} if round_trips else {}


class FetchPositions:
    """The offsets up to which a consumer has fetched, behind aborted messages too, which it never hands out.

    A consumer reports them in its statistics alone. Follow only one that is polled all the time: reports pile up in one
    that nobody polls.
    """

    def __init__(self) -> None:
        self._unparsed: str | None = None
        self._latest: dict[TopicPartition, int] = {}

    def settings(self) -> dict[str, Any]:
        """Return the client properties that make it report here."""
        return {STATISTICS_INTERVAL: POSITIONS_INTERVAL_MS, "stats_cb": self._on_statistics}

    def latest(self) -> dict[TopicPartition, int]:
        """Return the offset to fetch next of each partition that is being fetched, as of the last report."""
        text, self._unparsed = self._unparsed, None
        if text is not None:
            self._latest = {
                TopicPartition(topic, int(number)): partition["next_offset"]
                for topic, statistics in json.loads(text)["topics"].items()
                for number, partition in statistics["partitions"].items()
                if partition["fetch_state"] == "active"
            }
        return self._latest

    def _on_statistics(self, text: str) -> None:
        self._unparsed = text
