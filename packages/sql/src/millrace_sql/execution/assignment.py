"""Fit the result of a query to the columns of the table that it is inserted into.

Columns are matched by position, and cast where SQL's store assignment allows it, as Spark's ANSI rules have it
(https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html#store-assignment). A value that does not fit its
type, such as 300 for a TINYINT, fails its task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN, TableColumn, TableDescription
from millrace.options.suggestions import closest
from millrace_catalog.types.identifiers import backquote, quote_name
from millrace_sql.errors import SqlError
from millrace_sql.statements import Insert

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def assign_columns(rows: DataFrame, table: TableDescription, insert: Insert, *, drops_nulls: bool) -> DataFrame:
    """Return the rows of a query with the names and types of a table's columns.

    Args:
        rows: The query's result, whose column `ROW_KIND_COLUMN` is kept.
        table: The table.
        insert: The statement, with the columns and fixed values that it names.
        drops_nulls: Whether a row with a NULL for a NOT NULL column is dropped; it fails its task else.

    Raises:
        SqlError: The query has other columns than it needs, or a type that cannot be assigned.
    """
    from pyspark.sql import functions as fn

    fields = [field for field in rows.schema if field.name != ROW_KIND_COLUMN]
    targets = _targets(table, insert)
    if len(fields) != len(targets):
        raise SqlError(_wrong_count(table, targets, [field.name for field in fields]), insert.query.position)
    # By position, since two columns of a query may have one name
    names = [f"_{place}" for place in range(len(fields))]
    kinds = [ROW_KIND_COLUMN] if ROW_KIND_COLUMN in rows.columns else []
    placed = rows.toDF(*_placed_names(rows, names)) if _has_repeated(fields) else rows
    sources = names if _has_repeated(fields) else [field.name for field in fields]
    values: dict[str, tuple[Column, DataType, bool]] = {
        target.name: (fn.col(backquote(source)), field.dataType, field.nullable)
        for target, source, field in zip(targets, sources, fields, strict=True)
    }
    values |= _fixed_values(table, insert.partition)
    columns = [_assigned(column, values.get(column.name), insert) for column in persisted_columns(table)]
    checked = [
        column for column in persisted_columns(table) if not column.nullable and _may_be_null(values, column.name)
    ]
    if drops_nulls and checked:
        return _without_nulls(placed.select(*columns, *kinds), [column.name for column in checked])
    must = {column.name for column in checked}
    named = zip(persisted_columns(table), columns, strict=True)
    refused = [_refuse_null(value, column, table, kinds) if column.name in must else value for column, value in named]
    return placed.select(*refused, *kinds)


def persisted_columns(table: TableDescription) -> tuple[TableColumn, ...]:
    """Return the columns that an INSERT fills: physical ones, and metadata that can be written, in order."""
    return tuple(column for column in table.columns if column.expression is None and not column.is_virtual)


def target_columns(table: TableDescription, insert: Insert) -> list[str]:
    """Return the names of the columns that the query of an INSERT fills, in its order.

    Raises:
        SqlError: The statement names a column that there is not, or that cannot be written.
    """
    return [column.name for column in _targets(table, insert)]


def can_assign(source: DataType, target: DataType) -> bool:
    """Return whether a value of a type can be stored in a column of another one, by Spark's ANSI rules."""
    from pyspark.sql import types as sql

    if source == target or isinstance(source, sql.NullType):
        return True
    if isinstance(source, sql.ArrayType) and isinstance(target, sql.ArrayType):
        return can_assign(source.elementType, target.elementType)
    if isinstance(source, sql.MapType) and isinstance(target, sql.MapType):
        return can_assign(source.keyType, target.keyType) and can_assign(source.valueType, target.valueType)
    if isinstance(source, sql.StructType) and isinstance(target, sql.StructType):
        return len(source) == len(target) and all(
            can_assign(own.dataType, other.dataType) for own, other in zip(source, target, strict=True)
        )
    return _can_assign_scalar(source, target)


def _can_assign_scalar(source: DataType, target: DataType) -> bool:
    from pyspark.sql import types as sql

    if isinstance(target, sql.StringType):
        return isinstance(source, sql.AtomicType) and not isinstance(source, sql.BinaryType)
    if isinstance(source, sql.NumericType):
        return isinstance(target, sql.NumericType)
    times = (sql.DateType, sql.TimestampType, sql.TimestampNTZType)
    if isinstance(source, times):
        return isinstance(target, times)
    return type(source) is type(target)


def _targets(table: TableDescription, insert: Insert) -> list[TableColumn]:
    persisted = {column.name.lower(): column for column in persisted_columns(table)}
    fixed = {name.lower() for name in insert.partition}
    for name in (*insert.columns, *insert.partition):
        if name.lower() not in persisted:
            raise SqlError(_not_writable(table, name), insert.position)
    for name in insert.partition:
        if name not in table.partition_keys:
            raise SqlError(f"PARTITION: {quote_name(name)} is not a partition column of {table.name}", insert.position)
    named = [name.lower() for name in insert.columns]
    if len({*named}) < len(named) or fixed & {*named}:
        raise SqlError("a column is named twice in the INSERT", insert.position)
    if named:
        return [persisted[name] for name in named]
    return [column for name, column in persisted.items() if name not in fixed]


def _not_writable(table: TableDescription, name: str) -> str:
    known = {column.name.lower(): column for column in table.columns}
    column = known.get(name.lower())
    if column is None:
        close = closest(name, known)
        hint = f"; did you mean {quote_name(close)}?" if close else ""
        return f"table {table.name} has no column {quote_name(name)}{hint}"
    why = "a computed column" if column.expression is not None else "a VIRTUAL column, which is read only"
    return f"column {quote_name(name)} of table {table.name} is {why}; leave it out of the INSERT"


def _wrong_count(table: TableDescription, targets: Sequence[TableColumn], names: Sequence[str]) -> str:
    wanted = ", ".join(f"{quote_name(column.name)} {column.type.simpleString()}" for column in targets)
    return (
        f"table {table.name} takes {len(targets)} columns ({wanted}), and the query has {len(names)} "
        f"({', '.join(map(quote_name, names))})"
    )


def _has_repeated(fields: Sequence[object]) -> bool:
    names = [str(getattr(field, "name", "")).lower() for field in fields]
    return len(set(names)) < len(names)


def _placed_names(rows: DataFrame, names: Sequence[str]) -> list[str]:
    left = iter(names)
    return [name if name == ROW_KIND_COLUMN else next(left) for name in rows.columns]


def _fixed_values(table: TableDescription, partition: Mapping[str, str]) -> dict[str, tuple[Column, DataType, bool]]:
    from pyspark.sql import functions as fn

    types = {column.name.lower(): column for column in table.columns}
    fixed = {}
    for name, literal in partition.items():
        column = types[name.lower()]
        # A literal of a PARTITION clause is cast as it is written, '2026-11-22' to a DATE for instance
        fixed[column.name] = (fn.expr(literal).cast(column.type), column.type, False)
    return fixed


def _assigned(column: TableColumn, value: tuple[Column, DataType, bool] | None, insert: Insert) -> Column:
    from pyspark.sql import functions as fn

    if value is None:
        return fn.lit(None).cast(column.type).alias(column.name)
    expression, type_, _ = value
    if not can_assign(type_, column.type):
        raise SqlError(
            f"column {quote_name(column.name)}: the query has {type_.simpleString()}, and the table "
            f"{column.type.simpleString()}, which it is not cast to by itself: write CAST(... AS "
            f"{column.type.simpleString().upper()})",
            insert.query.position,
        )
    if type_ != column.type:
        expression = expression.cast(column.type)
    return expression.alias(column.name)


def _may_be_null(values: Mapping[str, tuple[Column, DataType, bool]], name: str) -> bool:
    return values[name][2] if name in values else True


def _refuse_null(value: Column, column: TableColumn, table: TableDescription, kinds: Sequence[str]) -> Column:
    from pyspark.sql import functions as fn

    message = (
        f"table {table.name}: NULL for column {quote_name(column.name)}, which is NOT NULL; filter such rows, or "
        f"SET 'table.exec.sink.not-null-enforcer' = 'drop'"
    )
    refused = fn.coalesce(value, fn.raise_error(fn.lit(message)))
    if kinds and column.name not in table.primary_key:
        # Of a row that is deleted, the key may be all that is known
        refused = fn.when(fn.col(kinds[0]) == "-D", value).otherwise(refused)
    return refused.alias(column.name)


def _without_nulls(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as fn

    for name in names:
        is_kept = fn.col(backquote(name)).isNotNull()
        rows = rows.where(is_kept | (fn.col(ROW_KIND_COLUMN) == "-D") if ROW_KIND_COLUMN in rows.columns else is_kept)
    return rows
