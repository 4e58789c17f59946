"""Fold the changes of a table into its rows, in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace_sql.planner.model import Scan


def fold(rows: DataFrame, scan: Scan) -> DataFrame:
    """Return the rows of a table that its changes leave, each as often as it was added and not taken away.

    The result does not depend on the order of the changes, which a batch does not have: each update brings its old row
    (``-U``).
    """
    if ROW_KIND_COLUMN not in rows.columns:
        return rows
    names = ["`" + column.name.replace("`", "``") + "`" for column in scan.table.columns]
    signed = rows.selectExpr("*", f"CASE WHEN {ROW_KIND_COLUMN} IN ('-U', '-D') THEN -1L ELSE 1L END AS __sign")
    counted = signed.groupBy(*names).agg({"__sign": "sum"}).withColumnRenamed("sum(__sign)", "__copies")
    repeated = counted.where("__copies > 0").selectExpr("*", "explode(sequence(1L, __copies)) AS __copy")
    return repeated.drop("__copies", "__copy")
