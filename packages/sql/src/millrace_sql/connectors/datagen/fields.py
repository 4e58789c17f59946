"""The expressions that generate the values of a row from its number."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import types as sql

from millrace.contracts import TableDescription
from millrace.errors import SchemaError
from millrace_sql.connectors.datagen.options import FieldOptions

if TYPE_CHECKING:
    from pyspark.sql import Column

_INTEGERS: dict[type[sql.DataType], int] = {
    sql.ByteType: 8,
    sql.ShortType: 16,
    sql.IntegerType: 32,
    sql.LongType: 64,
}
_TEXT_LENGTH = 100
_COLLECTION_LENGTH = 3
_FRACTION_BITS = 53
"""The bits of a hash that a double holds exactly."""

_LARGEST_FLOAT = 3.4028234e38


@dataclass(frozen=True)
class GeneratedColumn:
    """A column, and how its values are generated.

    Attributes:
        name: Its name.
        type: Its type.
        options: The options of it and of the fields in it, by their paths.
        seed: A number that is the field's own, so that no two fields have the same values.
    """

    name: str
    type: sql.DataType
    options: Mapping[str, FieldOptions]
    seed: int

    @property
    def row_count(self) -> int | None:
        """The number of values of a sequence; None of random values."""
        own = self.options[self.name]
        return None if own.start is None or own.end is None else own.end - own.start + 1

    def column(self, row_number: str) -> Column:
        """Return the values, from a column with the number of the row."""
        from pyspark.sql import functions as fn

        own = self.options[self.name]
        number = fn.col(row_number)
        if own.start is not None:
            return (number + fn.lit(own.start)).cast(self.type).alias(self.name)
        return _Generator(self.options, number, self.seed).value(self.name, self.type).alias(self.name)


def fields_of(table: TableDescription, options: Mapping[str, FieldOptions]) -> tuple[GeneratedColumn, ...]:
    """Return how each column of a table is generated.

    Raises:
        SchemaError: A sequence is of a type that does not count, or values of a type cannot be generated.
    """
    fields = tuple(
        GeneratedColumn(column.name, column.type, options, zlib.crc32(f"{table.name}.{column.name}".encode()))
        for column in table.physical_columns
    )
    for field in fields:
        counts = isinstance(field.type, sql.NumericType | sql.StringType)
        if options[field.name].kind == "sequence" and not counts:
            raise SchemaError(
                f"table {table.name!r}: column {field.name!r} is {field.type.simpleString().upper()}, and a sequence "
                f"has whole numbers: declare it BIGINT, or drop option 'fields.{field.name}.kind'"
            )
        missing = next((name for name in ("variant", "time(") if f'"{name}' in field.type.json()), None)
        if missing is not None:
            raise SchemaError(
                f"table {table.name!r}: column {field.name!r} is {field.type.simpleString().upper()}, which connector "
                f"'datagen' does not generate"
            )
    return fields


class _Generator:
    """Builds the expressions of one column; each part of it draws numbers of its own.

    Args:
        options: The options of fields by path.
        number: The number of the row.
        seed: A number of the column's own.
    """

    def __init__(self, options: Mapping[str, FieldOptions], number: Column, seed: int) -> None:
        self._options = options
        self._number = number
        self._seed = seed
        self._draws = 0

    def value(self, path: str, type_: sql.DataType) -> Column:
        """Return a random value, or NULL as often as the options say."""
        from pyspark.sql import functions as fn

        field = self._options[path]
        made = self._made(path, type_, field)
        if not field.null_rate:
            return made
        return fn.when(self._fraction() >= fn.lit(field.null_rate), made)

    def _made(self, path: str, type_: sql.DataType, field: FieldOptions) -> Column:
        from pyspark.sql import functions as fn

        if isinstance(type_, sql.StructType):
            return fn.struct(*(self.value(f"{path}.{part.name}", part.dataType).alias(part.name) for part in type_))
        if isinstance(type_, sql.ArrayType):
            length = _COLLECTION_LENGTH if field.length is None else field.length
            elements = [self.value(f"{path}.element", type_.elementType) for _ in range(length)]
            return fn.array(*elements).cast(type_)
        if isinstance(type_, sql.MapType):
            return self._map(path, type_, _COLLECTION_LENGTH if field.length is None else field.length)
        return self._scalar(type_, field).cast(type_)

    def _map(self, path: str, type_: sql.MapType, length: int) -> Column:
        from pyspark.sql import functions as fn

        made = fn.array(
            *(
                fn.struct(
                    self.value(f"{path}.key", type_.keyType).alias("key"),
                    self.value(f"{path}.value", type_.valueType).alias("value"),
                )
                for _ in range(length)
            )
        )
        keys = fn.transform(made, lambda entry: entry["key"])
        # Of keys that are drawn twice Spark takes one only
        first = fn.filter(made, lambda entry, place: fn.array_position(keys, entry["key"]) == place + 1)
        return fn.map_from_entries(first).cast(type_)

    def _scalar(self, type_: sql.DataType, field: FieldOptions) -> Column:
        from pyspark.sql import functions as fn

        makers: tuple[tuple[type[sql.DataType], Callable[[], Column]], ...] = (
            (sql.BooleanType, lambda: self._fraction() < fn.lit(0.5)),
            (sql.StringType, lambda: self._text(field)),
            (sql.BinaryType, lambda: fn.encode(self._text(field), "UTF-8")),
            (sql.TimestampType, lambda: self._time(field)),
            (sql.TimestampNTZType, lambda: self._time(field)),
            (sql.DateType, fn.current_date),
        )
        for kind, make in makers:
            if isinstance(type_, kind):
                return make()
        bits = _INTEGERS.get(type(type_))
        return self._decimal(type_, field) if bits is None else self._integer(bits, field)

    def _integer(self, bits: int, field: FieldOptions) -> Column:
        from pyspark.sql import functions as fn

        smallest = -(2 ** (bits - 1)) if field.smallest is None else int(field.smallest)
        largest = 2 ** (bits - 1) - 1 if field.largest is None else int(field.largest)
        count = largest - smallest + 1
        if count > 2**63 - 1:
            return self._hash()
        return fn.lit(smallest) + fn.pmod(self._hash(), fn.lit(count))

    def _decimal(self, type_: sql.DataType, field: FieldOptions) -> Column:
        """Return a number with a fraction."""
        from pyspark.sql import functions as fn

        limit = _LARGEST_FLOAT
        if isinstance(type_, sql.DecimalType):
            limit = float(10 ** (type_.precision - type_.scale) - 1)
        smallest = -limit if field.smallest is None else field.smallest
        largest = limit if field.largest is None else field.largest
        share = self._fraction()
        return fn.lit(smallest) * (fn.lit(1.0) - share) + fn.lit(largest) * share

    def _text(self, field: FieldOptions) -> Column:
        """Return hexadecimal digits."""
        from pyspark.sql import functions as fn

        length = _TEXT_LENGTH if field.length is None else field.length
        if not length:
            return fn.lit("")
        pieces = [fn.lower(fn.lpad(fn.hex(self._hash()), 16, "0")) for _ in range(-(-length // 16))]
        text = fn.concat(*pieces)
        taken = fn.lit(length)
        if field.has_any_length:
            taken = (fn.lit(1) + fn.pmod(self._hash(), fn.lit(length))).cast("int")
        return fn.substring(text, fn.lit(1), taken)

    def _time(self, field: FieldOptions) -> Column:
        from pyspark.sql import functions as fn

        if not field.max_past_ms:
            return fn.current_timestamp()
        past = fn.floor(self._fraction() * fn.lit(field.max_past_ms)).cast("bigint")
        return fn.timestamp_millis(fn.unix_millis(fn.current_timestamp()) - past)

    def _fraction(self) -> Column:
        """Return a number from 0, less than 1."""
        from pyspark.sql import functions as fn

        return fn.shiftrightunsigned(self._hash(), 64 - _FRACTION_BITS) / fn.lit(float(2**_FRACTION_BITS))

    def _hash(self) -> Column:
        from pyspark.sql import functions as fn

        self._draws += 1
        return fn.xxhash64(self._number, fn.lit(self._seed), fn.lit(self._draws))
