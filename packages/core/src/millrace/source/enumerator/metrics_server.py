"""The metrics of a stream, on the driver."""

from __future__ import annotations

import logging
from typing import Any

from millrace.monitoring.receiver import Receiver
from millrace.monitoring.report import Address, Report
from millrace.monitoring.totals import Totals
from millrace.options.values import split_address

logger = logging.getLogger("millrace.monitoring")


class Monitor:
    """Adds up what executors read, and says where they tell it.

    Args:
        address: Where to listen, as ``host`` or ``host:port``; without one executors tell nothing.
    """

    def __init__(self, address: str) -> None:
        self._totals = Totals()
        self._receiver = _listen(address, self._totals) if address else None

    @property
    def address(self) -> Address | None:
        """Where executors tell what they have read."""
        return self._receiver.address if self._receiver else None

    def close(self) -> None:
        """Take no more reports."""
        if self._receiver:
            self._receiver.close()

    def begin(self, splits: int) -> int:
        """Begin a micro-batch of so many splits; answers its number."""
        return self._totals.begin(splits if self._receiver else 0)

    def finish(self) -> None:
        """The micro-batch has ended."""
        self._totals.finish()

    def to_json(self) -> dict[str, Any]:
        """What is known now: see `Totals.to_json`."""
        return self._totals.to_json()


def _listen(address: str, totals: Totals) -> Receiver[Report] | None:
    host, port = split_address(address)
    try:
        return Receiver(host, port, Report.from_bytes, lambda report: b"%d" % totals.take(report))
    except OSError as error:
        logger.warning(
            "metrics lack what executors read, since the driver cannot listen at %s: %s. Give an address of the "
            "driver's machine by option 'scan.metrics.address'",
            address,
            error,
        )
        return None
