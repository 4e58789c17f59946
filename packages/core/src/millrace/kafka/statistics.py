"""What a Kafka client says of itself from time to time."""

from __future__ import annotations

import json
from typing import Any

INTERVAL_MS = "5000"

_TOTALS = ("rx", "rx_bytes", "rxmsgs", "rxmsg_bytes", "tx", "tx_bytes", "replyq")
"""Of librdkafka's statistics: responses, messages and requests, with their bytes, and what waits to be handed out."""


class Statistics:
    """The newest statistics of a client; they are parsed only when somebody asks."""

    def __init__(self) -> None:
        self._newest: str | None = None
        self._totals: tuple[str, dict[str, int]] = "", {}

    def settings(self) -> dict[str, Any]:
        """Client properties that make it report here."""
        return {"stats_cb": self._take}

    def newest(self) -> tuple[str, dict[str, int]]:
        """The client's id, and totals by the names that librdkafka gives them; both empty before the first ones."""
        text, self._newest = self._newest, None
        if text is not None:
            found = json.loads(text)
            latencies = [broker["rtt"]["avg"] for broker in found["brokers"].values() if broker["rtt"]["cnt"]]
            totals = {name: found[name] for name in _TOTALS} | ({"rtt_avg_us": max(latencies)} if latencies else {})
            self._totals = found["client_id"], totals
        return self._totals

    def _take(self, text: str) -> None:
        self._newest = text
