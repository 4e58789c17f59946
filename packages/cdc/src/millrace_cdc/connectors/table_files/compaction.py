"""Recommendations to compact tables, in the log."""

from __future__ import annotations

import logging

logger = logging.getLogger("millrace.pipelines")

SMALL_BYTES = 16 << 20
"""Files that are smaller in the mean cost readers more by their number than by their size."""

SMALL_FILES = "small files, each of which readers open"


class CompactionHints:
    """Recommend to compact a table that has many files, and again when it has twice as many.

    Args:
        least: The smallest number of them that is worth a word.
        files: What they are, and why they are too many.
        advice: The way to compact a table, with ``{}`` for its name.
    """

    def __init__(self, least: int, files: str, advice: str) -> None:
        self._least = least
        self._files = files
        self._advice = advice
        self._warned_at: dict[str, int] = {}

    def look(self, table: str, count: int, name: str) -> None:
        """Look at the number of a table's files.

        Args:
            table: The table's id.
            count: The number of files.
            name: The table's name for the advice.
        """
        if count >= max(self._least, 2 * self._warned_at.get(table, 0)):
            self._warned_at[table] = count
            logger.warning("table %r has %d %s: %s", table, count, self._files, self._advice.format(name))


def small_files(count: int, size: int) -> int:
    """Return the number of a table's files, or 0 where they are large.

    Args:
        count: Their number.
        size: Their size together, in bytes.
    """
    return count if size < count * SMALL_BYTES else 0
