"""Views of rows with their arrival, and partitions whose rows a Python function keeps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.errors import SqlError
from millrace_sql.planner.arrival import SEQUENCE, old_rows_first, with_sequence
from millrace_sql.planner.relations import Order, spark_sql
from millrace_sql.planner.state_values import ORDERS, nested_text_of, order_of, text_of, value_of
from millrace_sql.planner.window_stages import WATERMARK

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # pandas-stubs lag behind pandas
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState
    from pyspark.sql.types import StructField


@dataclass(frozen=True)
class NumberedStage:
    """A view of rows with the order of their arrival.

    Attributes:
        view_name: The view that the query reads.
        query: The rows.
        names: The names of their columns in the view.
        time_column: A column that has a watermark; None for none.
    """

    view_name: str
    query: exp.Expr
    names: tuple[str, ...]
    time_column: str | None = None

    def create_view(self, spark: SparkSession) -> None:
        """Create the view."""
        rows = with_sequence(spark.sql(spark_sql(self.query)).toDF(*self.names))
        if self.time_column is not None:
            rows = rows.withMetadata(self.time_column, WATERMARK)
        rows.createOrReplaceTempView(self.view_name)


@dataclass(frozen=True)
class RankStage:
    """Partitions whose rows Python keeps, in their order.

    Attributes:
        view_name: The view that the query reads: the columns of rows, their numbers and their kinds.
        query: The rows: columns, groups, orders, and row kinds where they change.
        names: The names of their columns in the view.
        columns: The number of columns that come out.
        groups: The number of groups.
        orders: The order of rows.
        first: The least number that comes out.
        last: The greatest number that comes out.
        by_number: Whether rows come out by their number; else each row comes out when it is among the first.
        prefers_last_arrived: Whether the last that came is the first of equal rows.
        keeps_all: Whether rows can be taken away, so that those behind the last number are kept.
        identity: The places of the columns by which a row is taken away; empty for all.
        key_places: The places of the columns that identify a row of the result, which may leave one partition for
            another one; empty for none.
    """

    view_name: str
    query: exp.Expr
    names: tuple[str, ...]
    columns: int
    groups: int
    orders: tuple[Order, ...]
    first: int
    last: int
    by_number: bool
    prefers_last_arrived: bool
    keeps_all: bool
    identity: tuple[int, ...]
    key_places: tuple[int, ...]

    def create_view(self, spark: SparkSession) -> None:
        """Create the view.

        Raises:
            SqlError: Values of a type cannot be kept.
        """
        from pyspark.sql.types import IntegerType, StringType, StructField, StructType

        rows = with_sequence(spark.sql(spark_sql(self.query)).toDF(*self.names))
        fields = [field for field in rows.schema if field.name.startswith("__column")]
        output = StructType(
            [
                StructField("__row", StringType()),
                StructField("__number", IntegerType()),
                StructField(ROW_KIND_COLUMN, StringType()),
            ]
        )
        encoded = self._encoded(rows, fields)
        keys = [f"__group{number}" for number in range(self.groups)] or ["__all"]
        ranked = encoded.groupBy(*keys).applyInPandasWithState(
            self._updater(rows), output, "rows STRING", "append", "NoTimeout"
        )
        texts = ranked.selectExpr("FROM_JSON(__row, 'ARRAY<STRING>') AS __row", "__number", ROW_KIND_COLUMN)
        values = [
            f"{value_of(f'__row[{place}]', field.dataType)} AS {field.name}" for place, field in enumerate(fields)
        ]
        result = texts.selectExpr(*values, "__number", ROW_KIND_COLUMN)
        if self.key_places:
            ordered = result.repartition(*(result.columns[place] for place in self.key_places))
            result = ordered.mapInArrow(old_rows_first, result.schema)
        result.createOrReplaceTempView(self.view_name)

    def _encoded(self, rows: DataFrame, fields: list[StructField]) -> DataFrame:
        """Return the rows as texts, with their groups, orders, signs and arrival."""
        texts = [self._text(field) for field in fields]
        groups = [f"__group{number}" for number in range(self.groups)] or ["1 AS __all"]
        orders = [self._order_text(rows, number) for number in range(len(self.orders))]
        identity = [texts[place] for place in self.identity] or texts
        sign = f"{ROW_KIND_COLUMN} IN ('-U', '-D')" if self.keeps_all else "FALSE"
        return rows.selectExpr(
            *groups,
            *orders,
            f"TO_JSON(ARRAY({', '.join(texts)})) AS __row",
            f"TO_JSON(ARRAY({', '.join(identity)})) AS __identity" if self.keeps_all else "'' AS __identity",
            f"{sign} AS __is_old",
            SEQUENCE,
        )

    def _text(self, field: StructField) -> str:
        text = nested_text_of(field.name, field.dataType)
        if text is None:
            raise SqlError(
                f"values of type {field.dataType.simpleString()} cannot be kept with numbered rows; use to_json of it"
            )
        return text

    def _order_text(self, rows: DataFrame, number: int) -> str:
        name = f"__order{number}"
        text = text_of(name, rows.schema[name].dataType)
        if text is None:
            type_ = rows.schema[name].dataType.simpleString()
            raise SqlError(f"ORDER BY {self.orders[number]}: values of type {type_} have no order that can be kept")
        return f"{text} AS {name}"

    def _updater(self, rows: DataFrame) -> Callable[..., Iterator[pd.DataFrame]]:
        orders = tuple(
            _Direction(order_of(rows.schema[f"__order{number}"].dataType), order.is_descending, order.nulls_first)
            for number, order in enumerate(self.orders)
        )
        limits = _Limits(self.first, self.last, self.by_number, self.prefers_last_arrived, self.keeps_all)
        return partial(_update, orders, limits)


class _Direction(NamedTuple):
    number_type: str
    is_descending: bool
    nulls_first: bool

    def key(self, text: str | None) -> tuple[int, Any]:
        """Return what orders a value among others, before it is reversed for a descending order."""
        if text is None:
            return (0 if self.nulls_first is not self.is_descending else 2, None)
        return (1, ORDERS[self.number_type](text))


class _Limits(NamedTuple):
    first: int
    last: int
    by_number: bool
    prefers_last_arrived: bool
    keeps_all: bool


def _update(
    orders: tuple[_Direction, ...], limits: _Limits, _key: tuple, batches: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """Add the changes of a micro-batch to the rows of a partition, and emit what changes among the first ones."""
    import pandas as pd

    # Of each row: its text, what it is taken away by, and the texts of its orders
    state_rows: list[list[Any]] = json.loads(state.get[0]) if state.exists else []
    had_rows = bool(state_rows)
    before = [row[0] for row in state_rows[limits.first - 1 : limits.last]]
    names = [SEQUENCE, "__is_old", "__row", "__identity", *(f"__order{number}" for number in range(len(orders)))]
    changes = sorted(row for batch in batches for row in _texts(batch, names))
    state_rows = _ordered(state_rows, changes, orders, limits)
    if state_rows:
        state.update((json.dumps(state_rows),))
    elif had_rows:
        state.remove()
    after = [row[0] for row in state_rows[limits.first - 1 : limits.last]]
    changed_rows = _by_number(before, after, limits.first) if limits.by_number else _by_row(before, after)
    yield pd.DataFrame(changed_rows, columns=["__row", "__number", ROW_KIND_COLUMN])


def _texts(batch: pd.DataFrame, names: list[str]) -> Iterator[tuple[Any, ...]]:
    columns = (batch[name].tolist() for name in names[4:])
    # pandas has NaN for the text of NULL
    orders = ([text if isinstance(text, str) else None for text in column] for column in columns)
    return zip(*(batch[name].tolist() for name in names[:4]), *orders, strict=True)


def _ordered(
    rows: list[list[Any]], changes: list[tuple[Any, ...]], orders: tuple[_Direction, ...], limits: _Limits
) -> list[list[Any]]:
    """Return the rows after changes, in their order; of equal ones by their arrival."""
    rows = list(rows)
    for _, is_old, row, identity, *texts in changes:
        if is_old:
            place = next((place for place, known_row in enumerate(rows) if known_row[1] == identity), None)
            if place is not None:
                del rows[place]
        else:
            rows.insert(0 if limits.prefers_last_arrived else len(rows), [row, identity, *texts])
    for number, direction in reversed(list(enumerate(orders, start=2))):
        rows.sort(key=lambda row: direction.key(row[number]), reverse=direction.is_descending)
    return rows if limits.keeps_all else rows[: limits.last]


def _by_number(before: list[str], after: list[str], first: int) -> list[tuple[str, int, str]]:
    changes = []
    for place in range(max(len(before), len(after))):
        old, new = (rows[place] if place < len(rows) else None for rows in (before, after))
        if old == new:
            continue
        if old is not None:
            changes.append((old, first + place, "-D" if new is None else "-U"))
        if new is not None:
            changes.append((new, first + place, "+I" if old is None else "+U"))
    return changes


def _by_row(before: list[str], after: list[str]) -> list[tuple[str, int, str]]:
    old, new = Counter(before), Counter(after)
    return [(row, 0, kind) for kind, rows in (("-D", old - new), ("+I", new - old)) for row in rows.elements()]
