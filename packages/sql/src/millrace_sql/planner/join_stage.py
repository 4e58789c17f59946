"""Regular joins of changes: the rows of both sides, which a Python function keeps for each value of the condition."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN
from millrace_sql.errors import SqlError
from millrace_sql.planner.arrival import SEQUENCE, old_rows_first, with_sequence
from millrace_sql.planner.relations import spark_sql
from millrace_sql.planner.state_values import nested_text_of, value_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped] # pandas-stubs lag behind pandas
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState
    from pyspark.sql.types import StructField

_INTEGERS = {"byte", "short", "integer", "long"}

Rows = dict[str, list[Any]]
"""Rows of one side by what they are taken away by: the text of the row, and how often it is there."""

Pair = tuple[str | None, str | None]


@dataclass(frozen=True)
class JoinSide:
    """One side of a join.

    Attributes:
        query: Its rows: columns, the values of the condition, and row kinds where they change.
        columns: The number of columns.
        has_changes: Whether its rows change.
        identity: The places of the columns by which a row is taken away; empty for all.
        is_kept: Whether its rows without a partner are part of the result.
    """

    query: exp.Expr
    columns: int
    has_changes: bool
    identity: tuple[int, ...]
    is_kept: bool


@dataclass(frozen=True)
class JoinStage:
    """A join whose sides Python keeps.

    Attributes:
        view_name: The view that the query reads: the columns of both sides, and row kinds.
        query: Both sides, as one tree.
        names: The names of the columns in the view.
        left: The left side.
        right: The right side.
        keys: The number of values of the condition.
        key_places: The places of the columns that identify a row of the result; empty for none.
    """

    view_name: str
    query: exp.Expr
    names: tuple[str, ...]
    left: JoinSide
    right: JoinSide
    keys: int
    key_places: tuple[int, ...]

    def create_view(self, spark: SparkSession) -> None:
        """Create the view.

        Raises:
            SqlError: Values of a type cannot be kept, or those of the condition have different types.
        """
        sides = (self.left, self.right)
        rows = [self._read(spark, side, number) for number, side in enumerate(sides)]
        self._check_keys(rows)
        columns = [[field for field in side.schema if field.name.startswith("__column")] for side in rows]
        parts = enumerate(zip(rows, columns, sides, strict=True))
        left, right = (_encoded(*part, self.keys, number) for number, part in parts)
        update = partial(
            _update, (bool(self.left.identity), bool(self.right.identity)), (self.left.is_kept, self.right.is_kept)
        )
        keys = [f"__key{number}" for number in range(self.keys)]
        output = f"__left STRING, __right STRING, {ROW_KIND_COLUMN} STRING"
        grouped = left.union(right).groupBy(*keys)
        pairs = grouped.applyInPandasWithState(update, output, "rows STRING", "append", "NoTimeout")
        joined = _decoded(pairs, columns)
        # A row that finds another partner leaves one task and comes from another one
        key = [joined.columns[place] for place in self.key_places]
        ordered = joined.repartition(*key) if key else joined.repartition(1)
        result = ordered.mapInArrow(old_rows_first, joined.schema)
        result.toDF(*self.names, ROW_KIND_COLUMN).createOrReplaceTempView(self.view_name)

    def _read(self, spark: SparkSession, side: JoinSide, number: int) -> DataFrame:
        names = [f"__column{place}" for place in range(side.columns)]
        names += [f"__key{place}" for place in range(self.keys)]
        names += [ROW_KIND_COLUMN] if side.has_changes else []
        return with_sequence(spark.sql(spark_sql(side.query)).toDF(*names))

    def _check_keys(self, rows: list[DataFrame]) -> None:
        for number in range(self.keys):
            types = [side.schema[f"__key{number}"].dataType for side in rows]
            if types[0] != types[1] and not {type_.typeName() for type_ in types} <= _INTEGERS:
                one, other = (type_.simpleString() for type_ in types)
                raise SqlError(
                    f"a join of changes compares {one} with {other}: CAST one of them to the type of the other"
                )


def _encoded(rows: DataFrame, fields: list[StructField], side: JoinSide, keys: int, number: int) -> DataFrame:
    """Return the rows of a side as texts, with the values of the condition, signs and arrival."""
    texts = []
    for field in fields:
        text = nested_text_of(field.name, field.dataType)
        if text is None:
            type_ = field.dataType.simpleString()
            raise SqlError(f"values of type {type_} cannot be kept by a join of changes; use to_json of it")
        texts.append(text)
    identity = [texts[place] for place in side.identity] or texts
    names = [f"__key{place}" for place in range(keys)]
    is_null = " OR ".join(f"{name} IS NULL" for name in names)
    return rows.selectExpr(
        *names,
        f"{is_null} AS __is_null",
        f"{number} AS __side",
        f"{ROW_KIND_COLUMN} IN ('-U', '-D') AS __is_old" if side.has_changes else "FALSE AS __is_old",
        f"TO_JSON(ARRAY({', '.join(texts)})) AS __row",
        f"TO_JSON(ARRAY({', '.join(identity)})) AS __identity",
        SEQUENCE,
    )


def _decoded(pairs: DataFrame, columns: list[list[StructField]]) -> DataFrame:
    """Return the columns of both sides of pairs of texts, by number."""
    sides = ("__left", "__right")
    texts = pairs.selectExpr(*(f"FROM_JSON({side}, 'ARRAY<STRING>') AS {side}" for side in sides), ROW_KIND_COLUMN)
    values = [
        value_of(f"{side}[{place}]", field.dataType)
        for side, fields in zip(sides, columns, strict=True)
        for place, field in enumerate(fields)
    ]
    return texts.selectExpr(*(f"{value} AS __column{place}" for place, value in enumerate(values)), ROW_KIND_COLUMN)


def _update(
    is_keyed: tuple[bool, bool],
    is_kept: tuple[bool, bool],
    _key: tuple,
    batches: Iterator[pd.DataFrame],
    state: GroupState,
) -> Iterator[pd.DataFrame]:
    """Add the changes of a micro-batch to the rows of both sides, and emit what changes among their pairs."""
    import pandas as pd

    state_rows: list[Rows] = json.loads(state.get[0]) if state.exists else [{}, {}]
    had_rows = any(state_rows)
    before = [_counts(side) for side in state_rows]
    names = [SEQUENCE, "__side", "__is_old", "__row", "__identity", "__is_null"]
    changes = sorted(row for batch in batches for row in zip(*(batch[name].tolist() for name in names), strict=True))
    for _, side, is_old, row, identity, _ in changes:
        _change(state_rows[side], row, identity, -1 if is_old else 1, is_keyed=is_keyed[side])
    if any(state_rows):
        state.update((json.dumps(state_rows),))
    elif had_rows:
        state.remove()
    # NULL is equal to nothing
    has_partners = not (changes and changes[0][-1])
    pairs = _changed_pairs(before, [_counts(side) for side in state_rows], is_kept, has_partners=has_partners)
    old = [(*pair, "-D") for pair, count in pairs.items() for _ in range(-count)]
    new = [(*pair, "+I") for pair, count in pairs.items() for _ in range(count)]
    yield pd.DataFrame([*old, *new], columns=["__left", "__right", ROW_KIND_COLUMN], dtype=object)


def _change(rows: Rows, row: str, identity: str, sign: int, *, is_keyed: bool) -> None:
    # A key has one row, though its insertion may come again
    count = sign if is_keyed else sign + (rows[identity][1] if identity in rows else 0)
    if count > 0:
        rows[identity] = [row, count]
    else:
        rows.pop(identity, None)


def _counts(rows: Rows) -> Counter[str]:
    counts = Counter[str]()
    for row, count in rows.values():
        counts[row] += count
    return counts


def _changed_pairs(
    before: list[Counter[str]], after: list[Counter[str]], is_kept: tuple[bool, bool], *, has_partners: bool
) -> Counter[Pair]:
    """Return how often each pair is added, or taken away, where that is below 0."""
    changed = Counter[Pair]()
    # A pair is there as often as both of its rows
    steps = [(_difference(before[0], after[0]), before[1]), (after[0], _difference(before[1], after[1]))]
    for left, right in steps if has_partners else ():
        for one, count in left.items():
            for other, times in right.items():
                changed[one, other] += count * times
    for sign, rows in ((-1, before), (1, after)):
        for row, count in _alone(rows, is_kept, has_partners=has_partners):
            changed[row] += sign * count
    return changed


def _alone(rows: list[Counter[str]], is_kept: tuple[bool, bool], *, has_partners: bool) -> Iterator[tuple[Pair, int]]:
    """Yield the rows without a partner that are part of the result."""
    left, right = rows
    if is_kept[0] and not (has_partners and right):
        yield from (((row, None), count) for row, count in left.items())
    if is_kept[1] and not (has_partners and left):
        yield from (((None, row), count) for row, count in right.items())


def _difference(before: Counter[str], after: Counter[str]) -> Counter[str]:
    changed = Counter(after)
    changed.subtract(before)
    return Counter({row: count for row, count in changed.items() if count})
