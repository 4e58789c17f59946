"""What the demo says at its end."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from millrace_cli.demo.display import rate_text

SCRIPT_MARK = "# ---- the pipeline that just ran, complete and ready to copy ----"


@dataclass(frozen=True)
class Summary:
    """The demo's numbers.

    Attributes:
        sent: Orders sent to the input topic.
        rows_in: Records that the query read.
        rows_out: Results read back from the output topic.
        seconds: How long the query ran.
        batches: Micro-batches.
        median_batch_ms: Half of them took longer.
        first_result_seconds: From the broker's readiness to the first result; None without any.
    """

    sent: int = 0
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    batches: int = 0
    median_batch_ms: float = 0.0
    first_result_seconds: float | None = None

    def lines(self) -> list[str]:
        """The numbers for people."""
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
    """The source of the pipeline's own module, which is a program by itself."""
    from millrace_cli.demo import pipeline

    return inspect.getsource(pipeline).rstrip()
