"""Time limits of a read that gets no message."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.kafka.client_log import SECURITY_ERROR_GRACE_S


@dataclass(frozen=True)
class FetchTimeouts:
    """Time limits of a read that gets no message, in seconds.

    Attributes:
        early_end_s: After this, a log that ends before offsets that the driver saw has lost data; a new leader learns
            its high watermark late.
        refused_s: After this, a client that brokers refuse gives up; they may let it in later.
        stall_s: After this, a read gives up; a restarted broker is back sooner.
        quiet_s: After this, a client that fetches and hands out nothing is replaced by one that reports its positions;
            long enough for one large fetch over a slow network.
    """

    early_end_s: float = 10.0
    refused_s: float = SECURITY_ERROR_GRACE_S
    stall_s: float = 120.0
    quiet_s: float = 1.0
