"""The share of messages that are malformed."""

from __future__ import annotations

ENOUGH_MESSAGES = 100
"""Messages from which on the share is compared: it says little of fewer."""


def is_larger_share(malformed: int, messages: int, limit: float) -> bool:
    """Return whether enough messages are read, and a larger share of them than a limit is malformed."""
    # A product would be rounded: 0.29 * 100 is less than 29
    return messages >= ENOUGH_MESSAGES and malformed / messages > limit
