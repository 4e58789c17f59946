"""Partitions of a table, by the transforms of its partition spec: "Partition Transforms" of the specification."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import SchemaError

_EPOCH_YEAR = 1970
_MONTHS = 12
_TEXT = re.compile(r"(?:(?P<transform>\w+)(?:\[(?P<width>\d+)\])?\()?(?P<column>[^()\[\]]+)\)?")
_TIMES = ("year", "month", "day", "hour")
TRANSFORMS = ("identity", *_TIMES, "truncate")
"""Transforms that pipelines write."""

_INDEX = "index"


class PartitionField(NamedTuple):
    """A field of a partition spec.

    Attributes:
        column: The name of its column.
        transform: Its transform: ``identity``, ``day``, ``truncate[10]``.
    """

    column: str
    transform: str = "identity"


@dataclass(frozen=True)
class Partition:
    """The rows of one partition.

    Attributes:
        values: Its values of the spec's fields, as JSON.
        rows: Their indices.
    """

    values: tuple[Any, ...]
    rows: pa.Array


def parse_partition_field(text: str) -> PartitionField:
    """Parse ``column``, ``day(column)`` or ``truncate[10](column)``.

    Raises:
        ValueError: It is something else, or a transform that pipelines do not write.
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None or (match["transform"] is None) != (")" not in text):
        raise ValueError(f"{text!r} is no partition key: expected column, day(column) or truncate[10](column)")
    transform = (match["transform"] or "identity").lower()
    if transform not in TRANSFORMS or (transform == "truncate") != (match["width"] is not None):
        raise ValueError(
            f"partition key {text!r} is not supported: give a column by itself, or in one of year(), month(), day(), "
            f"hour() and truncate[width]()"
        )
    width = "" if match["width"] is None else f"[{int(match['width'])}]"
    return PartitionField(match["column"].strip(), transform + width)


def check_transform(transform: str, type_: pa.DataType, column: str) -> None:
    """Check that pipelines write a transform.

    Raises:
        SchemaError: They do not, of this type.
    """
    name = transform.partition("[")[0]
    is_date, is_timestamp = pa.types.is_date(type_), pa.types.is_timestamp(type_)
    fits = {
        "identity": not pa.types.is_nested(type_) and not pa.types.is_binary(type_),
        "hour": is_timestamp,
        "truncate": pa.types.is_integer(type_) or pa.types.is_string(type_),
        **dict.fromkeys(("year", "month", "day"), is_date or is_timestamp),
    }
    if not fits.get(name, False):
        raise SchemaError(
            f"partition key {transform}({column}) of type {type_} is not written by pipelines: give a column of "
            f"numbers, texts or times, or one in {', '.join(TRANSFORMS[1:])}"
        )


def partitions(rows: pa.Table, fields: Sequence[PartitionField]) -> Iterator[Partition]:
    """Divide rows into partitions."""
    if not fields:
        yield Partition((), pa.array(range(rows.num_rows), pa.int64()))
        return
    columns = {
        str(number): transformed(rows.column(field.column), field.transform) for number, field in enumerate(fields)
    }
    names = list(columns)
    keys = pa.table({**columns, _INDEX: pa.array(range(rows.num_rows), pa.int64())})
    groups = keys.group_by(names, use_threads=False).aggregate([(_INDEX, "list")])
    values: list[Mapping[str, Any]] = groups.select(names).to_pylist()
    for key, group in zip(values, groups.column(f"{_INDEX}_list"), strict=True):
        yield Partition(tuple(_json(key[name]) for name in names), group.values)


def transformed(column: pa.ChunkedArray, transform: str) -> pa.ChunkedArray:
    """Return the values of a transform."""
    if transform == "identity":
        return column
    if transform.startswith("truncate"):
        width = int(transform[len("truncate[") : -1])
        if pa.types.is_string(column.type):
            return pc.utf8_slice_codeunits(column, 0, width)
        remainder = _floor_remainder(column.cast(pa.int64()), width)
        return pc.subtract(column.cast(pa.int64()), remainder)
    if pa.types.is_timestamp(column.type):
        # The values of TIMESTAMP_LTZ are of UTC
        column = column.cast(pa.int64()).cast(pa.timestamp("us"))
    if transform == "day":
        return pc.floor_temporal(column, unit="day").cast(pa.date32())
    if transform == "hour":
        return pc.divide(pc.floor_temporal(column, unit="hour").cast(pa.int64()), 3_600_000_000)
    years = pc.subtract(pc.year(column), _EPOCH_YEAR)
    if transform == "year":
        return years
    return pc.add(pc.multiply(years, _MONTHS), pc.subtract(pc.month(column), 1))


def _floor_remainder(values: pa.ChunkedArray, width: int) -> pa.ChunkedArray:
    """Return ``values mod width``, never negative; Arrow's division goes towards zero."""
    remainder = pc.subtract(values, pc.multiply(pc.divide(values, width), width))
    return pc.if_else(pc.less(remainder, 0), pc.add(remainder, width), remainder)


def _json(value: Any) -> Any:
    """Return a value as "JSON single-value serialization" of the specification writes it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def check_fields(columns: pa.Schema, fields: Sequence[PartitionField], table: str) -> None:
    """Check that a table can be divided by fields.

    Args:
        columns: Its columns.
        fields: The fields.
        table: Its id.

    Raises:
        SchemaError: It cannot.
    """
    for field in fields:
        if field.column not in columns.names:
            raise SchemaError(f"Iceberg: table {table!r} has no column {field.column!r} to be divided by")
        check_transform(field.transform, columns.field(field.column).type, field.column)
