"""What a Kafka client says of itself from time to time."""

from __future__ import annotations

import json
from typing import Any

STATISTICS = "statistics.interval.ms"

INTERVAL_MS = "5000"

OFF = {STATISTICS: "0"}

_TOTALS = {
    "consumer": ("rx", "rx_bytes", "rxmsgs", "rxmsg_bytes", "tx", "tx_bytes", "replyq"),
    "producer": ("rx", "rx_bytes", "txmsgs", "txmsg_bytes", "tx", "tx_bytes", "msg_cnt", "msg_size"),
}
"""Of librdkafka's statistics: responses, messages and requests, with their bytes; what waits to be handed out by a
consumer, or to be delivered by a producer."""

_NAME = {"consumer": "client_id", "producer": "name"}
"""A process may have several producers with one client id."""


class Statistics:
    """The newest statistics of a client; they are parsed only when somebody asks."""

    def __init__(self) -> None:
        self._newest: str | None = None
        self._totals: tuple[str, dict[str, int]] = "", {}

    def settings(self) -> dict[str, Any]:
        """Client properties that make it report here."""
        return {"stats_cb": self._take}

    def newest(self) -> tuple[str, dict[str, int]]:
        """The client, and totals by the names that librdkafka gives them; both empty before the first ones.

        A consumer is named by its client id, a producer by client id and number.
        """
        text, self._newest = self._newest, None
        if text is not None:
            found = json.loads(text)
            latencies = [broker["rtt"]["avg"] for broker in found["brokers"].values() if broker["rtt"]["cnt"]]
            kind = found["type"]
            latency = {"rtt_avg_us": max(latencies)} if latencies else {}
            totals = {name: found[name] for name in _TOTALS[kind]} | latency
            self._totals = found[_NAME[kind]], totals
        return self._totals

    def _take(self, text: str) -> None:
        self._newest = text
