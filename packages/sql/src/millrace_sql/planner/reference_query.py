"""The query as the user wrote it, over tables of the same columns without rows: what Spark would make of it.

A rewritten query gets its columns' names and types from it. It also shows whether the query means the same to Spark
after it was parsed and written again by sqlglot, so that no query is rewritten into another one unnoticed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import sqlglot
from sqlglot.tokens import TokenType

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.configuration.session_settings import setting
from millrace_sql.errors import SqlError
from millrace_sql.planner.query_text import DIALECT
from millrace_sql.planner.relations import parse_expression, spark_sql
from millrace_sql.planner.stand_ins import rows_like

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from millrace_sql.planner.model import Scan

_SPELLINGS = {
    re.compile(r"\bpower\(", re.IGNORECASE): "pow(",
    re.compile(r"\b(first|last)_value\("): r"\1(",
    re.compile(r"\bvariance\("): "var_samp(",
    re.compile(r"\bstd(dev)?\("): "stddev_samp(",
}
"""Functions that Spark shows by the names that were written, as it does no others."""

_SHOWN_FIELDS, _ALL = "spark.sql.debug.maxToStringFields", 2**31 - 1

_EXPRESSION_ID = re.compile(r"#\d+L?|plan_id=\d+|expr_id=\d+")


@dataclass(frozen=True)
class ReferenceColumns:
    """The columns of a query in a batch.

    Attributes:
        schema: The columns.
    """

    schema: StructType

    @classmethod
    def of(cls, spark: SparkSession, scans: tuple[Scan, ...], sql: str) -> ReferenceColumns:
        """Analyse a query over stand-ins of its tables.

        Args:
            spark: The session.
            scans: Its tables; views of their names are created, and replaced later by those of their rows.
            sql: The user's text, with names of the scans.

        Raises:
            SqlError: The rewritten query means something else to Spark.
        """
        from pyspark.sql.types import StructField, StructType

        for scan in scans:
            schema = StructType([StructField(column.name, column.type) for column in scan.table.columns])
            rows_like(spark, schema).createOrReplaceTempView(scan.view_name)
        schema = spark.sql(sql).schema
        rewritten = spark_sql(parse_expression(sql))
        if not _mean_the_same(spark, sql, rewritten, len(schema.fields)):
            message = (
                "a part of the query cannot be rewritten for a stream of changes without changing its meaning: "
                f"Spark reads it as written otherwise than {rewritten!r}; write it in plainer SQL"
            )
            raise SqlError(message)
        # No cast says that values of an array or a map are never NULL
        return cls(schema.toNullable())

    def typed(self, rows: DataFrame) -> DataFrame:
        """Return rows of the rewritten query under the names and types of the query as it was written."""
        from pyspark.sql import functions

        names = [f"__column{number}" for number in range(len(self.schema.fields))]
        kinds = [ROW_KIND_COLUMN] if ROW_KIND_COLUMN in rows.columns else []
        typed = [
            functions.col(name).cast(field.dataType).alias(field.name)
            for name, field in zip(names, self.schema.fields, strict=True)
        ]
        return rows.toDF(*names, *kinds).select(*typed, *kinds)


def _mean_the_same(spark: SparkSession, sql: str, rewritten: str, columns: int) -> bool:
    """Return whether two queries have the same analyzed or the same optimized plan."""
    written, again = _plans(spark, sql, columns), _plans(spark, rewritten, columns)
    if written.analyzed == again.analyzed or written.optimized == again.optimized:
        return True
    calls = written.distinct_calls()
    if len(calls) < 2 or calls != again.distinct_calls():
        return False
    # Spark's optimizer puts several DISTINCT aggregates into an order of hashes, which differ from run to run
    written, again = (_plans(spark, _without_distinct_calls(text), columns) for text in (sql, rewritten))
    return written.optimized == again.optimized


class _Plans(NamedTuple):
    """Texts of plans whose columns are numbered in the order in which they appear."""

    analyzed: str
    optimized: str

    def distinct_calls(self) -> list[tuple[str, str]]:
        """Return all calls of functions of which any is DISTINCT, in their order, and whether each is."""
        calls = re.findall(r"(\w+)\((distinct )?", self.analyzed)
        names = {name for name, is_distinct in calls if is_distinct}
        return [call for call in calls if call[0] in names]


def _plans(spark: SparkSession, sql: str, columns: int) -> _Plans:
    """Return the plans of a query; names are not compared, as Spark makes those of expressions from their spelling."""
    names = ", ".join(f"column{number}" for number in range(columns))
    # Else Spark shows the first 25 expressions of an operator only
    with setting(spark, _SHOWN_FIELDS, str(_ALL)):
        text = spark.sql(f"EXPLAIN EXTENDED SELECT * FROM ({sql}\n) AS q({names})").collect()[0][0]  # noqa: S608 - parsed
    analyzed, _, optimized = text.partition("== Analyzed Logical Plan ==")[2].partition("== Optimized Logical Plan ==")
    return _Plans(_comparable(analyzed), _comparable(optimized.partition("== Physical Plan ==")[0]))


def _without_distinct_calls(sql: str) -> str:
    """Return a query whose aggregates are not DISTINCT."""
    tokens = sqlglot.tokenize(sql, dialect=DIALECT)
    for before, token in reversed(list(pairwise(tokens))):
        if (before.token_type, token.token_type) == (TokenType.L_PAREN, TokenType.DISTINCT):
            sql = sql[: token.start] + sql[token.end + 1 :]
    return sql


def _comparable(plan: str) -> str:
    for spelling, name in _SPELLINGS.items():
        plan = spelling.sub(name, plan)
    plan = plan.replace("Join Cross,", "Join Inner,")  # FROM a, b is written as the one, and parsed as the other
    numbers: dict[str, int] = {}
    return _EXPRESSION_ID.sub(lambda match: f"#{numbers.setdefault(match.group(), len(numbers))}", plan)
