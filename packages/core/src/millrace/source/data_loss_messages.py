"""Report lost data in the same words on the driver, which plans, and on executors, which read."""

from __future__ import annotations

import logging

logger = logging.getLogger("millrace.source")

DATA_LOSS_HINT = (
    "Start with a new checkpoint location, or set option 'scan.fail-on-data-loss' to false to continue with the data "
    "that is left"
)


def describe_log(begin: int, end: int) -> str:
    """Return the predicate of a log that begins at one offset and ends before another, such as ``holds 2 to 4``."""
    return f"holds {begin} to {end - 1}" if end > begin else "is empty"
