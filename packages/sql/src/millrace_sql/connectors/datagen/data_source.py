"""A data source of the numbers 0, 1, 2 ..., at a rate of so many a second."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_ROWS_PER_ARROW_BATCH = 10_000


@dataclass
class NumberRange(InputPartition):
    """The numbers of a task.

    Attributes:
        start: The first.
        end: The one after the last.
    """

    start: int
    end: int


class RowNumbers(DataSource):
    """The data source; options ``rows-per-second``, ``number-of-rows`` and ``tasks``."""

    @classmethod
    def name(cls) -> str:
        """The name of the data source."""
        return "millrace_row_numbers"

    def schema(self) -> str:
        """Return its one column."""
        return "row_number BIGINT"

    def streamReader(self, schema: StructType) -> RowNumberReader:  # noqa: N802 - Spark's name
        """Create the reader of a stream."""
        number_of_rows = self.options.get("number-of-rows")
        return RowNumberReader(
            int(self.options["rows-per-second"]),
            None if number_of_rows is None else int(number_of_rows),
            int(self.options["tasks"]),
        )


class RowNumberReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader that counts on with the clock.

    With trigger AvailableNow a table with an end is read to it at once.

    Args:
        rows_per_second: The rate.
        number_of_rows: The number of all rows; None for no end.
        tasks: The number of tasks of a micro-batch.
    """

    def __init__(self, rows_per_second: int, number_of_rows: int | None, tasks: int) -> None:
        self._rate = rows_per_second
        self._row_count = number_of_rows
        self._tasks = tasks
        self._is_available_now = False
        self._began: tuple[float, int] | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the offset before the first row."""
        return {"rows": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Learn that the query ends with what there is now."""
        self._is_available_now = True

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the offset after the last row that is due, counted from where this run of the query began."""
        if self._began is None:
            # A second's rows are due at once, so that a query which ends with what there is has some
            self._began = (time.monotonic() - 1.0, start["rows"])
        if self._is_available_now and self._row_count is not None:
            return {"rows": self._row_count}
        since, first = self._began
        due = first + int((time.monotonic() - since) * self._rate)
        if self._is_available_now:
            # What is available must not grow while it is read
            due = first + self._rate
        return {"rows": due if self._row_count is None else min(due, self._row_count)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[NumberRange]:
        """Divide the rows of a micro-batch among tasks."""
        first, count = start["rows"], end["rows"] - start["rows"]
        cuts = [first + count * task // self._tasks for task in range(self._tasks + 1)]
        return [NumberRange(*pair) for pair in itertools.pairwise(cuts)]

    def read(self, partition: NumberRange) -> Iterator[pa.RecordBatch]:
        """Return the numbers of a task."""
        import pyarrow as pa

        for first in range(partition.start, partition.end, _ROWS_PER_ARROW_BATCH):
            numbers = range(first, min(first + _ROWS_PER_ARROW_BATCH, partition.end))
            yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64())], ["row_number"])
