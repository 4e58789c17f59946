"""The demo's summary, and the source of its pipeline."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from millrace_cli.demo.display import rate_text

SCRIPT_MARK = "# ---- the pipeline that just ran, complete and ready to copy ----"


@dataclass(frozen=True)
class Summary:
    """The figures of one run.

    Attributes:
        sent: Orders produced to the input topic.
        rows_in: Records read by the query; as many as sent, unless it was too slow to catch up at the end.
        rows_out: Results consumed from the output topic.
        seconds: Running time of the query.
        batches: Number of micro-batches.
        median_batch_ms: Their median duration.
        first_result_seconds: Time from the broker's readiness to the first result; None without any.
    """

    sent: int = 0
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    batches: int = 0
    median_batch_ms: float = 0.0
    first_result_seconds: float | None = None

    def lines(self) -> list[str]:
        """Format the figures."""
        first = self.first_result_seconds
        return [
            "summary",
            f"  orders sent        {self.sent:,}",
            f"  records in         {self.rows_in:,} ({rate_text(self._per_second(self.rows_in))})",
            f"  records out        {self.rows_out:,} ({rate_text(self._per_second(self.rows_out))})",
            f"  micro-batches      {self.batches:,}, median {self.median_batch_ms:,.0f} ms",
            f"  first result       {'none' if first is None else f'{first:.1f} s after the broker was ready'}",
        ]

    def _per_second(self, rows: int) -> float:
        return rows / self.seconds if self.seconds > 0 else 0.0


def script() -> str:
    """Return the source of the pipeline's module, which is a complete program."""
    from millrace_cli.demo import pipeline

    return inspect.getsource(pipeline).rstrip()
