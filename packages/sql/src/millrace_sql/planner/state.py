"""Aggregates that need all values of a group: MIN, MAX and COUNT(DISTINCT) of rows that may be taken away again.

Spark keeps the values as the state of a Python function, one text for each group; sums and counts beside them are kept
there too. Values cross as texts, which pandas cannot round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from millrace_sql.errors import SqlError
from millrace_sql.planner.accumulators import Accumulator
from millrace_sql.planner.relations import spark_sql
from millrace_sql.planner.state_values import ORDERS, order_of, text_of, value_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # pandas-stubs lag behind pandas
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState
    from pyspark.sql.types import DataType
    from sqlglot import exp

_EXACT = Context(prec=200)
"""Wide enough for any sum of Spark's decimals, so that nothing is rounded."""


@dataclass(frozen=True)
class StateStage:
    """A grouping whose values Python keeps.

    Attributes:
        view_name: The view that the query reads: groups, values, number of rows, whether the group is new.
        query: What is grouped: groups, arguments and the sign of each row.
        groups: The number of groups.
        accumulators: What is kept for each group.
        returns_old: Whether the result that a group had is returned before the one that it has.
    """

    view_name: str
    query: exp.Expr
    groups: int
    accumulators: tuple[Accumulator, ...]
    returns_old: bool = False

    def create_view(self, spark: SparkSession) -> None:
        """Create the view.

        Raises:
            SqlError: Values of a type cannot be kept.
        """
        rows = spark.sql(spark_sql(self.query))
        types = [rows.schema.fields[self.groups + number].dataType for number in range(len(self.accumulators))]
        kept = self._kept_rows(rows, types)
        groups = [f"__group{number}" for number in range(self.groups)]
        values = [
            f"{_decoded(f'__value{number}', accumulator, type_)} AS __value{number}"
            for number, (accumulator, type_) in enumerate(zip(self.accumulators, types, strict=True))
        ]
        columns = ("__rows", "__first", "__old", "__paired")
        kept.selectExpr(*groups, *values, *columns).createOrReplaceTempView(self.view_name)

    def _kept_rows(self, rows: DataFrame, types: list[DataType]) -> DataFrame:
        groups = [f"__group{number}" for number in range(self.groups)]
        values = [
            f"{_encoded(f'__value{number}', accumulator, type_)} AS __value{number}"
            for number, (accumulator, type_) in enumerate(zip(self.accumulators, types, strict=True))
        ]
        # Rows without GROUP BY are one group; a stateful function needs a key all the same
        keys = groups or ["__all"]
        all_rows = [] if groups else ["1 AS __all"]
        names = [f"__value{number}" for number in range(len(self.accumulators))]
        from pyspark.sql.types import BooleanType, LongType, StringType, StructField, StructType

        encoded = rows.selectExpr(*groups, *all_rows, *values, "__sign")
        output = StructType(
            [
                *(StructField(name, encoded.schema[name].dataType) for name in keys),
                *(StructField(name, StringType()) for name in names),
                StructField("__rows", LongType()),
                StructField("__first", BooleanType()),
                StructField("__old", BooleanType()),
                StructField("__paired", BooleanType()),
            ]
        )
        kinds = tuple(
            (order_of(type_), accumulator.kind) for accumulator, type_ in zip(self.accumulators, types, strict=True)
        )
        update = _updater(keys, kinds, returns_old=self.returns_old)
        return encoded.groupBy(*keys).applyInPandasWithState(update, output, "values STRING", "append", "NoTimeout")


def _encoded(column: str, accumulator: Accumulator, type_: DataType) -> str:
    """Return the text of a value.

    Raises:
        SqlError: Values of its type have none.
    """
    if accumulator.kind == "count":
        return f"CASE WHEN {column} IS NOT NULL THEN '1' END"
    # -0.0 is 0.0
    text = text_of(f"({column} + 0.0D)" if type_.typeName() in {"float", "double"} else column, type_)
    if text is not None:
        return text
    function = {"min": "MIN", "max": "MAX", "sum": "SUM"}.get(accumulator.kind, "COUNT(DISTINCT)")
    message = (
        f"{function} of {accumulator.argument}: values of type {type_.simpleString()} cannot be kept; use to_json of it"
    )
    raise SqlError(message)


def _decoded(column: str, accumulator: Accumulator, type_: DataType) -> str:
    """Return the value of a text."""
    if accumulator.kind in {"count", "distinct"}:
        return f"CAST({column} AS BIGINT)"
    if accumulator.kind == "sum":
        return f"CAST({column} AS {_type_of_sum(type_)})"
    return value_of(column, type_)


def _type_of_sum(type_: Any) -> str:
    if type_.typeName() == "decimal":
        return f"DECIMAL({min(type_.precision + 10, 38)},{type_.scale})"
    return "DOUBLE" if type_.typeName() in {"float", "double"} else "BIGINT"


def _updater(
    keys: list[str], kinds: tuple[tuple[str, str], ...], *, returns_old: bool
) -> Callable[[tuple, Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """Return the function that adds the rows of a micro-batch to a group's state, and emits its values."""
    is_whole = keys == ["__all"]

    def results(kept: dict[str, Any]) -> list[str | None]:
        return [
            _result(value, kind, number_type) for value, (number_type, kind) in zip(kept["values"], kinds, strict=True)
        ]

    def update(key: tuple, batches: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        import pandas as pd

        existed = state.exists
        kept: dict[str, Any] = (
            json.loads(state.get[0]) if existed else {"rows": 0, "values": [_empty(kind) for _, kind in kinds]}
        )
        before, old = kept["rows"], results(kept) if returns_old and existed else []
        for batch in batches:
            _add(kept, kinds, batch)
        new = results(kept)
        if kept["rows"] or any(kept["values"]) or is_whole:
            state.update((json.dumps(kept),))
        elif existed:
            state.remove()
        had, has = existed and (before > 0 or is_whole), kept["rows"] > 0 or is_whole
        rows = [(new, kept["rows"], not existed, False, had)]
        if returns_old and had:
            # A result that stays as it was is none that changes
            rows = [(old, before, False, True, has), *rows] if old != new or had != has else []
        columns: dict[str, list[Any]] = {name: [value] * len(rows) for name, value in zip(keys, key, strict=True)}
        columns |= {f"__value{number}": [row[0][number] for row in rows] for number in range(len(kinds))}
        others = ("__rows", "__first", "__old", "__paired")
        columns |= {name: [row[place] for row in rows] for place, name in enumerate(others, start=1)}
        yield pd.DataFrame(columns)

    return update


def _add(kept: dict[str, Any], kinds: tuple[tuple[str, str], ...], batch: pd.DataFrame) -> None:
    """Add rows to what is kept of their group."""
    signs = batch["__sign"].tolist()
    kept["rows"] += sum(signs)
    for number, (number_type, kind) in enumerate(kinds):
        texts = batch[f"__value{number}"].tolist()
        kept["values"][number] = _added(kept["values"][number], kind, number_type, zip(texts, signs, strict=True))


def _empty(kind: str) -> Any:
    return 0 if kind == "count" else "0" if kind == "sum" else {}


def _added(value: Any, kind: str, number_type: str, rows: Iterator[tuple[str | None, int]]) -> Any:
    """Return a kept value with the signed rows of a micro-batch."""
    present = [(text, sign) for text, sign in rows if isinstance(text, str)]
    if kind == "count":
        return value + sum(sign for _, sign in present)
    if kind == "sum" and number_type == "float":
        return repr(float(value) + sum(float(text) * sign for text, sign in present))
    if kind == "sum":
        total = Decimal(value)
        for text, sign in present:
            total = _EXACT.add(total, _EXACT.multiply(Decimal(text), Decimal(sign)))
        return str(total)
    for text, sign in present:
        count = value.get(text, 0) + sign
        if count:
            value[text] = count
        else:
            del value[text]
    return value


def _result(value: Any, kind: str, number_type: str) -> str | None:
    if kind in {"count", "sum"}:
        return str(value)
    present = [text for text, count in value.items() if count > 0]
    if kind == "distinct":
        return str(len(present))
    if not present:
        return None
    return (min if kind == "min" else max)(present, key=ORDERS[number_type])
