"""From columns to the Avro schema that the reference derives from them, and which columns have one."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.model import NO_DEFAULT, NULL, Array, AvroType, Field, Logical, Map, Record, Scalar, Union
from millrace_formats.avro.parse import is_name
from millrace_formats.shared.sql_types import check_schema, nested_problem, sql_name

RECORD_NAME = "org.apache.flink.avro.generated.record"
"""The name that the reference gives to the record of a table, so that both register one schema for one table."""

_SCALARS = {
    pa.bool_(): Scalar("boolean"),
    pa.int8(): Scalar("int"),
    pa.int16(): Scalar("int"),
    pa.int32(): Scalar("int"),
    pa.int64(): Scalar("long"),
    pa.float32(): Scalar("float"),
    pa.float64(): Scalar("double"),
    pa.string(): Scalar("string"),
    pa.binary(): Scalar("bytes"),
    pa.date32(): Scalar("int", Logical("date")),
}


def check_columns(format_name: str, schema: pa.Schema) -> None:
    """Refuse columns that have no Avro schema.

    Raises:
        SchemaError: Names every such column, with its type.
    """
    check_schema(format_name, schema, _problem)


def derive_record(fields: list[pa.Field], legacy: bool) -> Record:
    """The record of some columns.

    Args:
        fields: The columns, which `check_columns` has let pass.
        legacy: Whether both kinds of timestamp are instants to the millisecond, as in the reference unless told
            otherwise; else TIMESTAMP is an instant and TIMESTAMP_NTZ a local time, both to the microsecond.
    """
    return _Derivation(legacy).record(fields, RECORD_NAME)


def timestamp_meaning(type_: pa.TimestampType, legacy: bool) -> Logical:
    """The logical type of a timestamp."""
    if legacy:
        return Logical("timestamp-millis")
    return Logical("local-timestamp-micros" if type_.tz is None else "timestamp-micros")


class _Derivation:
    """The names of records that were given so far must not be given again."""

    def __init__(self, legacy: bool) -> None:
        self._legacy = legacy
        self._names: set[str] = set()

    def record(self, fields: list[pa.Field], name: str) -> Record:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return Record(name, [self._field(field, f"{name}_{field.name}") for field in fields])

    def _field(self, field: pa.Field, name: str) -> Field:
        return Field(field.name, self._part(field, name), None if field.nullable else NO_DEFAULT)

    def _part(self, field: pa.Field, name: str) -> AvroType:
        type_ = self._type(field.type, name)
        return Union((NULL, type_)) if field.nullable else type_

    def _type(self, type_: pa.DataType, name: str) -> AvroType:
        if pt.is_struct(type_):
            return self.record([type_.field(i) for i in range(type_.num_fields)], name)
        if pt.is_list(type_):
            return Array(self._part(type_.value_field, name))
        if pt.is_map(type_):
            return Map(self._part(type_.item_field, name))
        if pt.is_decimal128(type_):
            return Scalar("bytes", Logical("decimal", type_.precision, type_.scale))
        if pt.is_timestamp(type_):
            return Scalar("long", timestamp_meaning(type_, self._legacy))
        # Times have milliseconds in the reference, whatever timestamps have
        return Scalar("int", Logical("time-millis")) if pt.is_time64(type_) else _SCALARS[type_]


def _problem(path: str, type_: pa.DataType) -> str | None:
    return _name_problem(path, path) or nested_problem(path, type_) or _avro_problem(path, type_)


def _name_problem(path: str, name: str) -> str | None:
    return None if is_name(name) else f"column {path} has a name that Avro has not: letters, digits and _ alone"


def _avro_problem(path: str, type_: pa.DataType) -> str | None:
    if pt.is_struct(type_):
        if not type_.num_fields:
            return f"column {path} is STRUCT<>, which has no fields"
        inner = [(type_.field(i).name, type_.field(i).type) for i in range(type_.num_fields)]
        found = (
            _name_problem(f"{path}.{name}", name) or _avro_problem(f"{path}.{name}", of_type) for name, of_type in inner
        )
        return next(filter(None, found), None)
    if pt.is_map(type_):
        if type_.key_type != pa.string():
            return f"column {path} is {sql_name(type_)}, whose keys are not STRING"
        return _avro_problem(f"{path}.value", type_.item_type)
    return _avro_problem(f"{path}.element", type_.value_type) if pt.is_list(type_) else None
