"""Addresses that a session's setting gives to its tasks: those who follow its queries get reports of sinks."""

from __future__ import annotations

from collections.abc import Iterable

from millrace.monitoring.report import ReceiverAddress
from millrace.options.values import split_address

SETTING = "spark.millrace.sink.metrics.secret"
"""The setting of a session with the receivers. Spark shows no value of a setting whose name has ``secret`` in it."""


def receivers_text(receivers: Iterable[ReceiverAddress]) -> str:
    """Write addresses as the setting has them."""
    return ",".join(f"{receiver.host}:{receiver.port}:{receiver.secret.hex()}" for receiver in receivers)


def parse_receivers(text: str | None) -> tuple[ReceiverAddress, ...]:
    """Parse the value of the setting; what is no address is left out, since metrics must not fail a task."""
    return tuple(filter(None, map(_parse, (text or "").split(","))))


def _parse(text: str) -> ReceiverAddress | None:
    address, _, secret = text.rpartition(":")
    try:
        return ReceiverAddress(*split_address(address), bytes.fromhex(secret))
    except ValueError:
        return None
