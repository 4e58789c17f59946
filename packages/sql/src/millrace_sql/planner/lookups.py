"""The current rows of tables that streams are joined with, as of a micro-batch.

They are read at the beginning of each micro-batch and written beside the query's checkpoint, so that a repeated
micro-batch sees the same rows. Two versions are kept by turns: Spark repeats no other micro-batch than the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace_sql.planner.folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_sql.planner.model import Scan


class CurrentRows:
    """The current rows of a table, in versions.

    Args:
        scan: The table.
        location: A folder of the query's checkpoint, as a path or URI.
        number: The number of the scan in the query.
    """

    def __init__(self, scan: Scan, location: str, number: int) -> None:
        self._scan = scan
        self._location = f"{location.rstrip('/')}/current-rows-{number}"

    def view(self, session: SparkSession, rows: DataFrame, batch_id: int) -> None:
        """Create the view of the rows as of a micro-batch.

        Args:
            session: The session of the micro-batch.
            rows: A read of the table, which is run when the micro-batch runs for the first time.
            batch_id: The number of the micro-batch.
        """
        version = f"{self._location}/{batch_id % 2}"
        if self._version_in(session, f"{version}/batch") != batch_id:
            # The number is written last: a version without it, or with an older one, is incomplete
            fold(rows, self._scan).write.mode("overwrite").parquet(f"{version}/rows")
            session.range(batch_id, batch_id + 1, 1, 1).write.mode("overwrite").parquet(f"{version}/batch")
        session.read.parquet(f"{version}/rows").createOrReplaceTempView(self._scan.view_name)

    def _version_in(self, session: SparkSession, path: str) -> int | None:
        from pyspark.errors import AnalysisException

        try:
            numbers = session.read.schema("id BIGINT").parquet(path).collect()
        except AnalysisException:  # there is no such folder yet
            return None
        return numbers[0][0] if len(numbers) == 1 else None
