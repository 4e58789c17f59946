"""SQL names of Arrow types, and a check of the columns that a format supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import SchemaError

_SQL_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.time64("us"): "TIME",
    pa.time64("ns"): "TIME",
}

INTEGER_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


def is_instant(type_: pa.DataType) -> bool:
    """Return whether a type is SQL's TIMESTAMP: microseconds with a time zone."""
    return pt.is_timestamp(type_) and type_.unit == "us" and type_.tz is not None


def is_scalar(type_: pa.DataType) -> bool:
    """Return whether a type is one of SQL's scalar types."""
    return type_ in _SQL_NAMES or is_instant(type_) or pt.is_decimal128(type_)


def sql_name(type_: pa.DataType) -> str:
    """Return the SQL name of an Arrow type; Arrow's own name for one that SQL does not have."""
    if type_ in _SQL_NAMES:
        return _SQL_NAMES[type_]
    if is_instant(type_):
        return "TIMESTAMP"
    if pt.is_decimal128(type_):
        return f"DECIMAL({type_.precision},{type_.scale})"
    if pt.is_duration(type_) or pt.is_interval(type_):
        return f"INTERVAL ({type_})"
    if pt.is_list(type_):
        return f"ARRAY<{sql_name(type_.value_type)}>"
    if pt.is_map(type_):
        return f"MAP<{sql_name(type_.key_type)}, {sql_name(type_.item_type)}>"
    if pt.is_struct(type_):
        return "STRUCT<" + ", ".join(f"{field.name}: {sql_name(field.type)}" for field in type_) + ">"
    return str(type_)


def check_schema(format_name: str, schema: pa.Schema, problem: Callable[[str, pa.DataType], str | None]) -> None:
    """Refuse a schema that a format does not support.

    Args:
        format_name: The format's name, for the message.
        schema: The columns.
        problem: Returns what is wrong with a column of a path and type, or None.

    Raises:
        SchemaError: Names every column that is not supported, with its type.
    """
    if not len(schema):
        raise SchemaError(f"format {format_name} needs at least one column")
    problems = [text for field in schema if (text := problem(field.name, field.type))]
    problems += [f"two columns are named {name!r}" for name in _repeated(schema.names)]
    if problems:
        raise SchemaError(f"format {format_name} does not support this schema: " + "; ".join(problems))


def nested_problem(path: str, type_: pa.DataType) -> str | None:
    """Return what is wrong with a column for a format that carries all of SQL's types but intervals, or None."""
    if is_scalar(type_):
        if pt.is_decimal128(type_) and type_.scale < 0:
            return f"column {path} is {sql_name(type_)}, whose scale is negative"
        return None
    for inner_path, inner in _children(path, type_):
        if problem := nested_problem(inner_path, inner):
            return problem
    if pt.is_struct(type_):
        repeated = _repeated([field.name for field in type_])
        return f"column {path} has two fields named {repeated[0]!r}" if repeated else None
    if pt.is_map(type_):
        return None if is_scalar(type_.key_type) else f"column {path} is {sql_name(type_)}, whose keys are not scalars"
    return None if pt.is_list(type_) else f"column {path} has the type {sql_name(type_)}, which is not supported"


def _children(path: str, type_: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    if pt.is_struct(type_):
        for field in type_:
            yield f"{path}.{field.name}", field.type
    elif pt.is_map(type_):
        yield f"{path}.value", type_.item_type
    elif pt.is_list(type_):
        yield f"{path}.element", type_.value_type


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
