"""What a Kafka client says in the background, kept for error messages and out of the terminal."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError

from millrace.kafka.error_hints import explain_refusal, hint_for_silence, is_refusal, shown

logger = logging.getLogger("millrace.kafka")
"""The log of all Kafka clients; librdkafka would otherwise write to standard error."""

# Without a handler of the user's, Python would print warnings to standard error
logger.addHandler(logging.NullHandler())

REFUSED_S = 10.0
"""How long brokers that have answered before may refuse a client: some of them may be starting."""

_FORGET_S = 15.0
"""When a refusal that was not heard again is over; clients try at least every 10 seconds."""


class ClientLog:
    """Remembers the newest errors that a client reported while nobody was calling it.

    Args:
        client: The properties that the client is made with, for what is said of its errors.
    """

    def __init__(self, client: Mapping[str, str] | None = None) -> None:
        self._client = client or {}
        self._errors: deque[str] = deque(maxlen=8)
        self._hint: str | None = None
        self._refusal = ""
        self._first_refused = 0.0
        self._last_refused = -_FORGET_S

    def settings(self) -> dict[str, Any]:
        """Client properties that make it report here."""
        return {"error_cb": self._on_error, "logger": self}

    def said(self) -> str:
        """The distinct errors, oldest first."""
        return "; ".join(dict.fromkeys(self._errors))

    def refusal(self, for_s: float = 0.0) -> str | None:
        """Why brokers refuse this client, with what to do; None when they do not.

        Args:
            for_s: How long they must have done so.
        """
        now = time.monotonic()
        if now - self._last_refused > _FORGET_S or now - self._first_refused < for_s:
            return None
        return explain_refusal(self._refusal, self._client)

    def hint(self) -> str | None:
        """What may be wrong with the client's security when no broker answers."""
        return self._hint

    def clear(self) -> None:
        """Forget what was said so far."""
        self._errors.clear()
        self._hint = None
        self._last_refused = -_FORGET_S

    def log(self, level: int, form: str, *values: object) -> None:
        """Take a line of the client's log; it calls this as the method of a logger."""
        logger.log(level, form, *values)
        self._hint = self._hint or hint_for_silence(form % values if values else form, self._client)

    def _on_error(self, error: KafkaError) -> None:
        text = error.str()
        self._errors.append(shown(text))
        if is_refusal(text):
            now = time.monotonic()
            if now - self._last_refused > _FORGET_S:
                self._first_refused = now
            self._refusal, self._last_refused = text, now
