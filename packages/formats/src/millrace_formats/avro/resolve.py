"""Finds, for a writer's schema, how its messages become rows: fields by name or alias, types promoted, defaults filled.

Names of records do not matter, as in Avro's own library. A column that the writer's schema has no field for is NULL, or
has the default of the reader's schema where that is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.conversions import conversion
from millrace_formats.avro.defaults import default_value
from millrace_formats.avro.model import NULL, Array, AvroType, Enum, Field, Fixed, Map, Record, Scalar, Union, type_name
from millrace_formats.avro.plan import Choice, Items, Null, Pairs, Plan, Rows, Skip, Texts, Unreadable, Value
from millrace_formats.avro.text_values import text_of
from millrace_formats.shared.sql_types import sql_name


def resolve(writer: AvroType, reader: AvroType | None, schema: pa.Schema, *, legacy: bool, texts: bool = False) -> Plan:
    """The plan for messages of one schema.

    Args:
        writer: The schema that they were written with.
        reader: The schema of the user's, which has all columns; None without one.
        schema: The columns.
        legacy: What a plain number means in a timestamp's column, see `derive_record`.
        texts: Whether a record can be read as a map of the texts of its fields.
    """
    return _Resolution(legacy, texts).plan(writer, reader, pa.field("", pa.struct(list(schema))))


def unreadable(plan: Plan, path: str = "") -> Iterator[str]:
    """What a plan cannot read, one phrase for each place."""
    if isinstance(plan, Unreadable):
        yield f"column {path}: {plan.reason}" if path else plan.reason
    elif isinstance(plan, Rows):
        for part, column in plan.parts:
            if column is not None:
                name = plan.fields[column].name
                yield from unreadable(part, f"{path}.{name}" if path else name)
    elif isinstance(plan, Choice):
        for branch in plan.branches:
            yield from unreadable(branch, path)
    elif isinstance(plan, Items | Pairs):
        yield from unreadable(plan.item if isinstance(plan, Items) else plan.value, f"{path}[]")


@dataclass(frozen=True)
class _Resolution:
    legacy: bool
    texts: bool

    def plan(self, writer: AvroType, reader: AvroType | None, field: pa.Field) -> Plan:
        if isinstance(writer, Union):
            branches = tuple(self.plan(branch, reader, field) for branch in writer.branches)
            return Choice(writer, field.type, branches)
        if isinstance(writer, Scalar) and writer.kind == NULL.kind:
            return Null(writer, field.type)
        own = _like(writer, reader)
        type_ = field.type
        if isinstance(writer, Record) and pt.is_struct(type_):
            return self._rows(writer, own if isinstance(own, Record) else None, type_)
        if isinstance(writer, Array) and pt.is_list(type_):
            item = self.plan(writer.items, own.items if isinstance(own, Array) else None, type_.value_field)
            return Items(writer, type_, item)
        if isinstance(writer, Map) and pt.is_map(type_):
            value = self.plan(writer.values, own.values if isinstance(own, Map) else None, type_.item_field)
            return Pairs(writer, type_, value)
        if isinstance(writer, Record) and self.texts and _is_of_texts(type_):
            return Texts(writer, type_, tuple(_as_text(field.type) for field in writer.fields))
        return self._value(writer, own, type_)

    def _value(self, writer: AvroType, reader: AvroType | None, type_: pa.DataType) -> Plan:
        if isinstance(writer, Scalar | Fixed | Enum) and not pt.is_nested(type_):
            found = conversion(writer, reader, type_, self.legacy)
            if found is not None:
                return Value(writer, type_, found)
        what = "a row" if pt.is_struct(type_) else sql_name(type_)
        return Unreadable(writer, type_, f"the writer's {type_name(writer)} cannot be read as {what}")

    def _rows(self, writer: Record, reader: Record | None, type_: pa.StructType) -> Plan:
        fields = tuple(type_.field(i) for i in range(type_.num_fields))
        own = {field.name: field for field in reader.fields} if reader else {}
        places = _places(writer, fields, own)
        columns = {place: column for column, place in places.items()}
        parts: list[tuple[Plan, int | None]] = []
        for place, one in enumerate(writer.fields):
            column = columns.get(place)
            if column is None:
                parts.append((Skip(one.type), None))
            else:
                known = own.get(fields[column].name)
                parts.append((self.plan(one.type, known.type if known else None, fields[column]), column))
        defaults = {}
        for column in (column for column in range(len(fields)) if column not in places):
            field, known = fields[column], own.get(fields[column].name)
            if known is not None and known.has_default:
                defaults[column] = default_value(self.plan(known.type, known.type, field), known.default)
            else:
                defaults[column] = None
            if defaults[column] is None and (problem := _missing(field, known)):
                return Unreadable(writer, type_, f"the writer's record {writer.name} {problem}")
        return Rows(writer, fields, tuple(parts), defaults)


def _as_text(writer: AvroType) -> Plan:
    """The text of a value; nothing of one that holds others, or whose text is not known."""
    if isinstance(writer, Union):
        branches = tuple(_as_text(branch) for branch in writer.branches)
        if any(isinstance(branch, Skip) for branch in branches):
            return Skip(writer)
        return Choice(writer, pa.string(), branches)
    if writer == NULL:
        return Null(NULL, pa.string())
    if isinstance(writer, Scalar | Enum) and (found := text_of(writer)):
        return Value(writer, pa.string(), found)
    return Skip(writer)


def _places(writer: Record, fields: tuple[pa.Field, ...], own: dict[str, Field]) -> dict[int, int]:
    """For each column that the writer's schema has a field for, where that is."""
    names = {field.name: place for place, field in enumerate(writer.fields)}
    places = {column: names[field.name] for column, field in enumerate(fields) if field.name in names}
    free = names.keys() - {field.name for field in fields}
    for column, field in enumerate(fields):
        aliases = own[field.name].aliases if column not in places and field.name in own else ()
        for alias in aliases:
            if alias in free:
                places[column] = names[alias]
                free.discard(alias)
                break
    return places


def _missing(field: pa.Field, own: Field | None) -> str | None:
    """What is wrong with a column that has neither a field nor a default but null, or None."""
    if own is not None and not own.has_default:
        return f"has no field {field.name!r}, which has no default in the schema of option 'schema'"
    return None if field.nullable else f"has no field {field.name!r}, which is NOT NULL"


def _like(writer: AvroType, reader: AvroType | None) -> AvroType | None:
    """The reader's type for a writer's that is no union: of a union the branch of its kind."""
    if not isinstance(reader, Union):
        return reader
    return next((branch for branch in reader.branches if type(branch) is type(writer) and branch != NULL), None)


def _is_of_texts(type_: pa.DataType) -> bool:
    return pt.is_map(type_) and pt.is_string(type_.item_type) and bool(type_.item_field.nullable)
