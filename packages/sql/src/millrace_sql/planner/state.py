"""Aggregates that need all values of a group: MIN, MAX and COUNT(DISTINCT) of changing rows, and those of an order.

Spark keeps the values as the state of a Python function, one text for each group; sums and counts beside them are kept
there too. Values cross as texts, which pandas cannot round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from millrace_sql.planner.accumulators import Accumulator
from millrace_sql.planner.kept_texts import decoded_sql, encoded_sql
from millrace_sql.planner.ordered_values import ORDERED_KINDS, add_ordered, ordered_texts
from millrace_sql.planner.relations import spark_sql
from millrace_sql.planner.state_values import ORDERS, order_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # pandas-stubs lag behind pandas
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState
    from pyspark.sql.types import DataType

_ORDER_BITS = 40
"""More rows than a task has."""

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

    @property
    def _is_ordered(self) -> bool:
        return any(accumulator.kind in ORDERED_KINDS for accumulator in self.accumulators)

    def create_view(self, spark: SparkSession) -> None:
        """Create the view.

        Raises:
            SqlError: Values of a type cannot be kept.
        """
        rows = spark.sql(spark_sql(self.query))
        types = [rows.schema.fields[self.groups + number].dataType for number in range(len(self.accumulators))]
        kept_rows = self._kept_rows(rows, types)
        groups = [f"__group{number}" for number in range(self.groups)]
        values = [
            f"{decoded_sql(f'__value{number}', accumulator, type_)} AS __value{number}"
            for number, (accumulator, type_) in enumerate(zip(self.accumulators, types, strict=True))
        ]
        columns = ("__rows", "__first", "__old", "__paired")
        kept_rows.selectExpr(*groups, *values, *columns).createOrReplaceTempView(self.view_name)

    def _kept_rows(self, rows: DataFrame, types: list[DataType]) -> DataFrame:
        groups = [f"__group{number}" for number in range(self.groups)]
        values = [
            f"{encoded_sql(f'__value{number}', accumulator, type_)} AS __value{number}"
            for number, (accumulator, type_) in enumerate(zip(self.accumulators, types, strict=True))
        ]
        # Rows without GROUP BY are one group; a stateful function needs a key all the same
        keys = groups or ["__all"]
        all_rows = [] if groups else ["1 AS __all"]
        names = [f"__value{number}" for number in range(len(self.accumulators))]
        from pyspark.sql.types import BooleanType, LongType, StringType, StructField, StructType

        encoded = rows.selectExpr(*groups, *all_rows, *values, "__sign")
        if self._is_ordered:
            encoded = encoded.mapInArrow(_with_order, StructType([*encoded.schema, StructField("__order", LongType())]))
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


def _with_order(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task with numbers that ascend, after those of the tasks before it."""
    import numpy as np
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    first = (context.partitionId() if context else 0) << _ORDER_BITS
    for batch in batches:
        order = pa.array(np.arange(first, first + batch.num_rows))
        yield pa.RecordBatch.from_arrays([*batch.columns, order], [*batch.schema.names, "__order"])
        first += batch.num_rows


def _updater(
    keys: list[str], kinds: tuple[tuple[str, str], ...], *, returns_old: bool
) -> Callable[[tuple, Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """Return the function that adds the rows of a micro-batch to a group's state, and emits its values."""
    is_whole, is_ordered = keys == ["__all"], any(kind in ORDERED_KINDS for _, kind in kinds)

    def results(group_state: dict[str, Any]) -> list[str | None]:
        return [_result(value, kind, type_) for value, (type_, kind) in zip(group_state["values"], kinds, strict=True)]

    def update(key: tuple, batches: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        import pandas as pd

        existed = state.exists
        group_state: dict[str, Any] = (
            json.loads(state.get[0]) if existed else {"rows": 0, "values": [_empty(kind) for _, kind in kinds]}
        )
        before, old = group_state["rows"], results(group_state) if returns_old and existed else []
        if is_ordered:
            # A shuffle keeps no order
            batches = iter([pd.concat(list(batches)).sort_values("__order")])
        for batch in batches:
            _add(group_state, kinds, batch)
        new = results(group_state)
        if group_state["rows"] or any(group_state["values"]) or is_whole:
            state.update((json.dumps(group_state),))
        elif existed:
            state.remove()
        had, has = existed and (before > 0 or is_whole), group_state["rows"] > 0 or is_whole
        rows = [(new, group_state["rows"], not existed, False, had)]
        if returns_old and had:
            # A result that stays as it was is none that changes
            rows = [(old, before, False, True, has), *rows] if old != new or had != has else []
        columns: dict[str, list[Any]] = {name: [value] * len(rows) for name, value in zip(keys, key, strict=True)}
        columns |= {f"__value{number}": [row[0][number] for row in rows] for number in range(len(kinds))}
        others = ("__rows", "__first", "__old", "__paired")
        columns |= {name: [row[place] for row in rows] for place, name in enumerate(others, start=1)}
        yield pd.DataFrame(columns)

    return update


def _add(group_state: dict[str, Any], kinds: tuple[tuple[str, str], ...], batch: pd.DataFrame) -> None:
    """Add rows to what is kept of their group."""
    signs = batch["__sign"].tolist()
    group_state["rows"] += sum(signs)
    for number, (type_, kind) in enumerate(kinds):
        texts = batch[f"__value{number}"].tolist()
        group_state["values"][number] = _added(
            group_state["values"][number], kind, type_, zip(texts, signs, strict=True)
        )


def _empty(kind: str) -> Any:
    return 0 if kind == "count" else "0" if kind == "sum" else {}


def _added(value: Any, kind: str, type_: str, rows: Iterator[tuple[str | None, int]]) -> Any:
    """Return a kept value with the signed rows of a micro-batch."""
    present = [(text, sign) for text, sign in rows if isinstance(text, str)]
    if kind == "count":
        return value + sum(sign for _, sign in present)
    if kind in ORDERED_KINDS:
        return add_ordered(value, kind, present)
    if kind == "sum" and type_ == "float":
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


def _result(value: Any, kind: str, type_: str) -> str | None:
    if kind in {"count", "sum"}:
        return str(value)
    if kind in ORDERED_KINDS:
        return json.dumps(ordered_texts(value, kind))
    present = [text for text, count in value.items() if count > 0]
    if kind == "distinct":
        return str(len(present))
    if not present:
        return None
    return (min if kind == "min" else max)(present, key=ORDERS[type_])
