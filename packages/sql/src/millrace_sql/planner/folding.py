"""Fold the changes of a table into its rows, in a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.planner.relations import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace_sql.planner.model import Scan

_SIGN = f"CASE WHEN {ROW_KIND_COLUMN} IN ('-U', '-D') THEN -1L ELSE 1L END AS __sign"


def fold(rows: DataFrame, scan: Scan) -> DataFrame:
    """Return the rows of a table that its changes leave, each as often as it was added and not taken away.

    The result does not depend on the order of the changes, which a batch does not have: each update brings its old row
    (``-U``). An old row has the metadata of the message that took it away, so that physical columns and those of the
    primary key decide which rows are the same.
    """
    if ROW_KIND_COLUMN not in rows.columns:
        return rows
    key = {name.lower() for name in scan.table.primary_key}
    columns = [quoted(column.name) for column in scan.table.columns]
    same = [quoted(column.name) for column in scan.table.columns if column.is_physical or column.name.lower() in key]
    others = [name for name in columns if name not in same]
    signed = rows.selectExpr("*", _SIGN)
    if others and same:
        return _last_added(signed, same, others).select(*columns)
    counted = signed.groupBy(*columns).agg({"__sign": "sum"}).withColumnRenamed("sum(__sign)", "__copies")
    repeated = counted.where("__copies > 0").selectExpr("*", "explode(sequence(1L, __copies)) AS __copy")
    return repeated.drop("__copies", "__copy")


def _last_added(signed: DataFrame, same: list[str], others: list[str]) -> DataFrame:
    """Return the rows that are left, with the other columns of those that were added last.

    Tasks read the messages of a partition in order, one part after the other.
    """
    from pyspark.sql import functions as fn

    numbered = signed.withColumn("__order", fn.monotonically_increasing_id())
    added = fn.when(fn.col("__sign") > 0, fn.struct("__order", *others))
    grouped = numbered.groupBy(*same).agg(
        fn.sum("__sign").cast("int").alias("__copies"), fn.collect_list(added).alias("__added")
    )
    newest_first = "array_sort(__added, (one, other) -> CAST(sign(other.__order - one.__order) AS INT))"
    last = grouped.where("__copies > 0").selectExpr(*same, f"explode(slice({newest_first}, 1, __copies)) AS __last")
    return last.select(*same, *(fn.col(f"__last.{name}").alias(name[1:-1].replace("``", "`")) for name in others))
