"""What a Kafka client says in the background, kept for error messages and out of the terminal."""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from confluent_kafka import KafkaError

logger = logging.getLogger("millrace.kafka")
"""The log of all Kafka clients; librdkafka would otherwise write to standard error."""

# Without a handler of the user's, Python would print warnings to standard error
logger.addHandler(logging.NullHandler())


class Watch:
    """Remembers the newest errors that a client reported while nobody was calling it."""

    def __init__(self) -> None:
        self._errors: deque[str] = deque(maxlen=8)

    def settings(self) -> dict[str, Any]:
        """Client properties that make it report here."""
        return {"error_cb": self._on_error, "logger": logger}

    def said(self) -> str:
        """The distinct errors, oldest first."""
        return "; ".join(dict.fromkeys(self._errors))

    def clear(self) -> None:
        """Forget what was said so far."""
        self._errors.clear()

    def _on_error(self, error: KafkaError) -> None:
        self._errors.append(error.str())
