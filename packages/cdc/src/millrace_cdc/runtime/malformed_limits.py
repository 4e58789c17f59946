"""Limits of the malformed messages that a pipeline skips."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from millrace.errors import MessageError
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace.monitoring.malformed_share import is_larger_share
from millrace_cdc.runtime.task_reports import TaskFindings


@dataclass(frozen=True)
class MalformedLimits:
    """The malformed messages that are skipped before one more ends the pipeline; None for any.

    Attributes:
        count: Their number since the pipeline's first start.
        ratio: Their share of all messages since this start.
        consecutive: Those one after another in a partition since this start.
    """

    count: int | None = None
    ratio: float | None = None
    consecutive: int | None = None


class MalformedCounts:
    """Count the malformed messages of a run, and compare them with the limits.

    Args:
        limits: The limits.
    """

    def __init__(self, limits: MalformedLimits) -> None:
        self._limits = limits
        self._messages = 0
        self._malformed = 0
        self._runs: dict[tuple[str, int], MalformedRuns] = {}

    def add(self, reports: Iterable[TaskFindings], since_first_start: int) -> None:
        """Count those of a micro-batch.

        Args:
            reports: The reports of its tasks.
            since_first_start: The number of malformed messages since the pipeline's first start.

        Raises:
            MessageError: There are too many.
        """
        reports = tuple(reports)
        self._messages += sum(report.messages for report in reports)
        self._malformed += sum(report.malformed for report in reports)
        longest = self._longest_run(reports)
        count, ratio, consecutive = self._limits.count, self._limits.ratio, self._limits.consecutive
        if count is not None and since_first_start > count:
            raise MessageError(
                f"{since_first_start} messages are malformed, more than 'ingestion.error-tolerance.max-count' allows "
                f"({count})"
            )
        if consecutive is not None and longest > consecutive:
            raise MessageError(
                f"malformed messages one after another in a partition: {longest}, more than "
                f"'dirty-data.max-consecutive' allows ({consecutive})"
            )
        if ratio is not None and is_larger_share(self._malformed, self._messages, ratio):
            raise MessageError(
                f"{self._malformed} of {self._messages} messages are malformed, a larger share than "
                f"'dirty-data.max-ratio' allows ({ratio})"
            )

    def _longest_run(self, reports: Iterable[TaskFindings]) -> int:
        """Add the runs of ranges, each to those before it in its partition, and return the longest."""
        ranges = sorted((*place, runs) for report in reports for place, runs in report.runs.items())
        longest = 0
        for partition, _, runs in ranges:
            together = self._runs.get(partition, MalformedRuns()).then(runs)
            longest = max(longest, together.longest)
            tail = together.trailing
            # What is before it does not continue
            self._runs[partition] = MalformedRuns(tail, tail, tail, together.has_sound)
        return longest
