"""Resolve a writer's schema against the columns: fields by name or alias, types promoted, defaults filled in.

This is Avro's schema resolution, https://avro.apache.org/docs/1.12.0/specification/#schema-resolution, with columns in
the place of a reader's schema. As in Avro's Java library, names of records need not match. A column that the writer's
schema has no field for is NULL, or has the default of the reader's schema where that is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import MalformedMessageError, SchemaError
from millrace_formats.avro.reader.conversions import (
    Conversion,
    bytes_conversion,
    number_conversion,
    string_conversion,
    symbol_conversion,
    time_conversion,
    to_string_conversion,
    uuid_conversion,
)
from millrace_formats.avro.reader.decimals import decimal_conversion
from millrace_formats.avro.reader.json_reader import json_reader
from millrace_formats.avro.reader.read_plan import (
    ListPlan,
    MapPlan,
    NullPlan,
    ReadPlan,
    RecordPlan,
    ScalarPlan,
    SkipPlan,
    TextMapPlan,
    UnionPlan,
    UnreadablePlan,
)
from millrace_formats.avro.schema.derivation import derived_timestamp
from millrace_formats.avro.schema.model import (
    NULL,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    Fixed,
    Primitive,
    Record,
    RecordField,
    Union,
    describe_type,
)
from millrace_formats.shared.sql_types import sql_name

_BYTES_LIKE = {"bytes", "string"}


def resolve(
    writer: AvroType, reader: AvroType | None, schema: pa.Schema, *, legacy: bool, texts: bool = False
) -> ReadPlan:
    """Plan how messages of one schema become rows.

    Args:
        writer: The schema that they were written with.
        reader: The schema of option ``schema``, which has all columns; None without one.
        schema: The columns.
        legacy: How a plain number is read into a timestamp's column, see `derive_record`.
        texts: Whether a record can be read as a map of the texts of its fields.
    """
    return _Resolution(legacy, texts).plan(writer, reader, pa.field("", pa.struct(list(schema))))


def resolve_or_raise(
    format_name: str,
    writer: AvroType,
    reader: AvroType | None,
    schema: pa.Schema,
    *,
    legacy: bool,
    texts: bool = False,
) -> ReadPlan:
    """Resolve like `resolve`, and refuse columns that cannot be read.

    Raises:
        SchemaError: Names the columns.
    """
    plan = resolve(writer, reader, schema, legacy=legacy, texts=texts)
    if problems := list(unreadable(plan)):
        raise SchemaError(f"format {format_name} cannot read these columns by its schema: {'; '.join(problems)}")
    return plan


def unreadable(plan: ReadPlan, path: str = "") -> Iterator[str]:
    """Describe each part of a plan that cannot be read."""
    if isinstance(plan, UnreadablePlan):
        yield f"column {path}: {plan.reason}" if path else plan.reason
    elif isinstance(plan, RecordPlan):
        for part, column in plan.parts:
            if column is not None:
                name = plan.fields[column].name
                yield from unreadable(part, f"{path}.{name}" if path else name)
    elif isinstance(plan, UnionPlan):
        for branch in plan.branches:
            yield from unreadable(branch, path)
    elif isinstance(plan, ListPlan | MapPlan):
        yield from unreadable(plan.item if isinstance(plan, ListPlan) else plan.value, f"{path}[]")


@dataclass(frozen=True)
class _Resolution:
    """Resolve the parts of one schema; for the attributes see `resolve`."""

    legacy: bool
    texts: bool

    def plan(self, writer: AvroType, reader: AvroType | None, field: pa.Field) -> ReadPlan:
        type_ = field.type
        if isinstance(writer, Union):
            return UnionPlan(writer, type_, tuple(self.plan(branch, reader, field) for branch in writer.branches))
        if isinstance(writer, Primitive) and writer.kind == NULL.kind:
            return NullPlan(writer, type_)
        reader = _matching_branch(writer, reader)
        if isinstance(writer, Record) and pt.is_struct(type_):
            return self._record_plan(writer, reader if isinstance(reader, Record) else None, type_)
        if isinstance(writer, AvroArray) and pt.is_list(type_):
            item = self.plan(writer.items, reader.items if isinstance(reader, AvroArray) else None, type_.value_field)
            return ListPlan(writer, type_, item)
        if isinstance(writer, AvroMap) and pt.is_map(type_):
            value = self.plan(writer.values, reader.values if isinstance(reader, AvroMap) else None, type_.item_field)
            return MapPlan(writer, type_, value)
        if isinstance(writer, Record) and self.texts and _is_text_map(type_):
            return TextMapPlan(writer, type_, tuple(_text_plan(field.type) for field in writer.fields))
        return self._scalar_plan(writer, reader, type_)

    def _scalar_plan(self, writer: AvroType, reader: AvroType | None, type_: pa.DataType) -> ReadPlan:
        if isinstance(writer, Primitive | Fixed | AvroEnum) and not pt.is_nested(type_):
            conversion = _conversion(writer, reader, type_, self.legacy)
            if conversion is not None:
                return ScalarPlan(writer, type_, conversion)
        target = "a row" if pt.is_struct(type_) else sql_name(type_)
        return UnreadablePlan(writer, type_, f"the writer's {describe_type(writer)} cannot be read as {target}")

    def _record_plan(self, writer: Record, reader: Record | None, type_: pa.StructType) -> ReadPlan:
        fields = tuple(type_.field(i) for i in range(type_.num_fields))
        reader_fields = {field.name: field for field in reader.fields} if reader else {}
        sources = _source_fields(writer, fields, reader_fields)
        column_by_source = {source: column for column, source in sources.items()}
        parts: list[tuple[ReadPlan, int | None]] = []
        for index, writer_field in enumerate(writer.fields):
            column = column_by_source.get(index)
            if column is None:
                parts.append((SkipPlan(writer_field.type), None))
            else:
                reader_field = reader_fields.get(fields[column].name)
                reader_type = reader_field.type if reader_field else None
                parts.append((self.plan(writer_field.type, reader_type, fields[column]), column))
        defaults = {}
        for column in (column for column in range(len(fields)) if column not in sources):
            reader_field = reader_fields.get(fields[column].name)
            defaults[column] = self._default(fields[column], reader_field)
            if defaults[column] is None and (problem := _missing_problem(fields[column], reader_field)):
                return UnreadablePlan(writer, type_, f"the writer's record {writer.name} {problem}")
        return RecordPlan(writer, fields, tuple(parts), defaults)

    def _default(self, field: pa.Field, reader: RecordField | None) -> Any:
        """Return the default of a reader's field as a value of its column; None without one.

        Raises:
            SchemaError: The default is not a value of the field's type.
        """
        if reader is None or not reader.has_default:
            return None
        plan = self.plan(reader.type, reader.type, field)
        try:
            return json_reader(plan, is_tagged=False)(reader.default)
        except MalformedMessageError as error:
            raise SchemaError(f"option 'schema' has a default that cannot be read: {error}") from None


def _source_fields(
    writer: Record, fields: tuple[pa.Field, ...], reader_fields: dict[str, RecordField]
) -> dict[int, int]:
    """Return the index of the writer's field for each column that has one, by name or else by an unused alias."""
    indices = {field.name: index for index, field in enumerate(writer.fields)}
    sources = {column: indices[field.name] for column, field in enumerate(fields) if field.name in indices}
    unused = indices.keys() - {field.name for field in fields}
    for column, field in enumerate(fields):
        has_aliases = column not in sources and field.name in reader_fields
        for alias in reader_fields[field.name].aliases if has_aliases else ():
            if alias in unused:
                sources[column] = indices[alias]
                unused.discard(alias)
                break
    return sources


def _missing_problem(field: pa.Field, reader: RecordField | None) -> str | None:
    """Describe the problem of a column with neither a field nor a default but null; None if it may be NULL."""
    if reader is not None and not reader.has_default:
        return f"has no field {field.name!r}, which has no default in the schema of option 'schema'"
    return None if field.nullable else f"has no field {field.name!r}, which is NOT NULL"


def _matching_branch(writer: AvroType, reader: AvroType | None) -> AvroType | None:
    """Return the reader's type for a writer's type, of a union the branch of the same kind."""
    if not isinstance(reader, Union):
        return reader
    return next((branch for branch in reader.branches if type(branch) is type(writer) and branch != NULL), None)


def _is_text_map(type_: pa.DataType) -> bool:
    return pt.is_map(type_) and pt.is_string(type_.item_type) and bool(type_.item_field.nullable)


def _text_plan(writer: AvroType) -> ReadPlan:
    """Plan to read a value as text; `SkipPlan` for a value that has parts or no text."""
    if isinstance(writer, Union):
        branches = tuple(_text_plan(branch) for branch in writer.branches)
        if any(isinstance(branch, SkipPlan) for branch in branches):
            return SkipPlan(writer)
        return UnionPlan(writer, pa.string(), branches)
    if writer == NULL:
        return NullPlan(NULL, pa.string())
    if isinstance(writer, Primitive | AvroEnum) and (conversion := to_string_conversion(writer)):
        return ScalarPlan(writer, pa.string(), conversion)
    return SkipPlan(writer)


def _conversion(
    writer: Primitive | Fixed | AvroEnum, reader: AvroType | None, type_: pa.DataType, legacy: bool
) -> Conversion | None:
    """Return the conversion from a writer's type to a scalar column, or None where there is none."""
    if isinstance(writer, AvroEnum):
        symbols = frozenset(reader.symbols) if isinstance(reader, AvroEnum) else frozenset()
        default = reader.default if isinstance(reader, AvroEnum) else None
        return symbol_conversion(symbols, default) if type_ == pa.string() else None
    if isinstance(writer, Primitive) and writer.kind not in _BYTES_LIKE:
        return _from_number(writer, reader, type_, legacy)
    return _from_bytes(writer, reader, type_)


def _from_number(writer: Primitive, reader: AvroType | None, type_: pa.DataType, legacy: bool) -> Conversion | None:
    conversion = number_conversion(writer.kind, type_)
    if conversion or not pt.is_temporal(type_) or writer.kind not in ("int", "long"):
        return conversion
    if writer.logical:
        return time_conversion(writer.logical.name, type_)
    if isinstance(reader, Primitive) and reader.logical:
        return time_conversion(reader.logical.name, type_)
    # Flink reads a plain number as the type that it derives from the column
    if pt.is_timestamp(type_):
        return time_conversion(derived_timestamp(type_, legacy).name, type_) if writer.kind == "long" else None
    return time_conversion("date" if pt.is_date32(type_) else "time-millis", type_) if writer.kind == "int" else None


def _from_bytes(writer: Primitive | Fixed, reader: AvroType | None, type_: pa.DataType) -> Conversion | None:
    if type_ == pa.binary():
        return bytes_conversion()
    if type_ == pa.string():
        if isinstance(writer, Primitive):
            return string_conversion()
        return uuid_conversion() if writer.logical and writer.logical.name == "uuid" else None
    if not pt.is_decimal128(type_) or (isinstance(writer, Primitive) and writer.kind == "string"):
        return None
    logical = writer.logical or (reader.logical if isinstance(reader, Primitive | Fixed) else None)
    if logical is None:
        return decimal_conversion(type_, type_.scale)
    return decimal_conversion(type_, logical.scale) if logical.name == "decimal" else None
