"""The contract of reports, which one process sends to another, and the address that they are sent to."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol


class ReceiverAddress(NamedTuple):
    """The address of a receiver, and the secret that both sides prove to know."""

    host: str
    port: int
    secret: bytes

    def __repr__(self) -> str:
        return f"ReceiverAddress({self.host}:{self.port})"


class Report(Protocol):
    """A report that is sent to a receiver.

    Attributes:
        UNREACHABLE: The warning when the receiver cannot be reached; a format string with its ``host`` and ``port`` and
            the ``failure``.
    """

    UNREACHABLE: ClassVar[str]

    @property
    def is_answered(self) -> bool:
        """True if the sender waits for an answer."""

    def to_bytes(self) -> bytes:
        """Return the report as it is sent."""
