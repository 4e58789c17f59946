"""Buffer librdkafka's errors and log lines, for error messages."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError

from millrace.kafka.error_hints import (
    explain_security_error,
    interrupted_login_advice,
    is_security_error,
    protocol_mismatch_hint,
    redact,
)
from millrace.kafka.retry import SYSTEM_CLOCK, Clock

logger = logging.getLogger("millrace.kafka")
"""The log of all Kafka clients; librdkafka would otherwise write to standard error."""

# Without a handler of the user's, Python would print warnings to standard error
logger.addHandler(logging.NullHandler())

SECURITY_ERROR_GRACE_S = 10.0
"""Time after which a refusal by brokers that have answered before is an error; until then they may be starting."""

_REFUSED = "Connection refused"

_LOST_CONNECTION = re.compile(r"\bFAIL\b.* in state UP\b|\bREQTMOUT\b")
"""A line on a connection that has ended, or on a request without an answer; errors do not tell the former."""

_SECURITY_ERROR_EXPIRES_S = 15.0
"""Time after which a security error that is not repeated is over; clients reconnect at least every 10 seconds."""


class ClientLog:
    """The latest errors of a client's background threads.

    Args:
        client: The client's properties, to explain its errors.
        clock: Measures how long a security error lasts.
    """

    def __init__(self, client: Mapping[str, str] | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self._client = client or {}
        self._clock = clock
        self._errors: deque[str] = deque(maxlen=8)
        self._protocol_hint: str | None = None
        self._has_advised = False
        self._lost_connections = 0
        self._security_error = ""
        self._security_error_began = 0.0
        self._security_error_repeated = -_SECURITY_ERROR_EXPIRES_S

    def settings(self) -> dict[str, Any]:
        """Return the client properties that make it report here."""
        return {"error_cb": self._on_error, "logger": self}

    @property
    def servers(self) -> str:
        """The bootstrap servers of the client."""
        return self._client.get("bootstrap.servers", "")

    def recent_errors(self) -> str:
        """Return the distinct errors since `clear`, oldest first, in one line."""
        return "; ".join(self._errors)

    def security_error(self, min_duration_s: float = 0.0) -> str | None:
        """Return why the brokers refuse this client, with advice; None if they do not.

        Args:
            min_duration_s: Ignore an error that has not lasted this long, in seconds.
        """
        now = self._clock.now()
        is_over = now - self._security_error_repeated > _SECURITY_ERROR_EXPIRES_S
        if is_over or now - self._security_error_began < min_duration_s:
            return None
        return explain_security_error(self._security_error, self._client)

    def protocol_hint(self) -> str | None:
        """Return which ``security.protocol`` the brokers seem to expect; None if nothing points to another one."""
        return self._protocol_hint

    @property
    def has_lost_connection(self) -> bool:
        """True if a connection that served requests has ended since the client began, as far as it was polled.

        Once it has, later ones may not show: librdkafka logs the same words again after 30 seconds only.
        """
        return self._lost_connections > 0

    def clear(self) -> None:
        """Forget all errors."""
        self._errors.clear()
        self._protocol_hint = None
        self._security_error_repeated = -_SECURITY_ERROR_EXPIRES_S

    def log(self, level: int, form: str, *values: object) -> None:
        """Take a line of the client's log, which calls this as `logging.Logger.log`."""
        logger.log(level, form, *values)
        line = form % values if values else form
        if level >= logging.INFO and _LOST_CONNECTION.search(line):
            self._lost_connections += 1
        if _REFUSED in line:
            self._protocol_hint = None
        self._protocol_hint = self._protocol_hint or protocol_mismatch_hint(line, self._client)

    def _on_error(self, error: KafkaError) -> None:
        text = error.str()
        if _REFUSED in text:
            # A broker that is dying closes connections first, as one does that expects another protocol
            self._protocol_hint = None
        # The cause must outlast "1/1 brokers are down", which librdkafka before 2.16 repeats with each attempt
        if redact(text) not in self._errors:
            self._errors.append(redact(text))
        advice = interrupted_login_advice(text)
        if advice and not self._has_advised:
            self._has_advised = True
            logger.warning("%s. %s", redact(text), advice)
        if is_security_error(text):
            now = self._clock.now()
            if now - self._security_error_repeated > _SECURITY_ERROR_EXPIRES_S:
                self._security_error_began = now
            self._security_error, self._security_error_repeated = text, now
