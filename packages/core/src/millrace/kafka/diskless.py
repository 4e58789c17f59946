"""Recognize topics that brokers keep in object storage alone (KIP-1150), which have no transactions and no compaction.

Brokers say so in the topic's setting ``diskless.enable``; they have no such setting where there are no such topics.
"""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError

DISKLESS = "diskless.enable"


def is_diskless(settings: Mapping[str, str]) -> bool:
    """Return whether a topic is one of them, by its settings."""
    return settings.get(DISKLESS, "").strip().lower() == "true"


def check_transactions(topics: Mapping[str, Mapping[str, str]], *, is_exactly_once: bool) -> None:
    """Refuse topics without transactions for a write that needs them.

    Args:
        topics: The topics' settings by their names, as far as they are known.
        is_exactly_once: Whether the write needs transactions.

    Raises:
        OptionsError: There are such topics.
    """
    diskless = [topic for topic, settings in topics.items() if is_diskless(settings)]
    if diskless and is_exactly_once:
        named = ", ".join(map(repr, diskless))
        problem = (
            f"topic {named} is diskless ({DISKLESS} = true) and takes no transactions, which 'sink.delivery-guarantee' "
            f"= 'exactly-once' needs: set it to 'at-least-once', or write to another topic"
        )
        raise OptionsError("sink", (problem,))
