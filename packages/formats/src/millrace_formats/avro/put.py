"""How rows become messages of one schema: a tree that all writers are made from."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import SchemaError
from millrace_formats.avro.model import NULL, Array, AvroType, Enum, Field, Fixed, Map, Record, Scalar, Union, type_name
from millrace_formats.avro.raw_values import Raw, raw_values
from millrace_formats.avro.wire import wire_type
from millrace_formats.shared.sql_types import sql_name


@dataclass(frozen=True)
class PutNull:
    """Nothing, for a field that no column has."""

    writer: AvroType

    def raw(self, count: int) -> pa.Array:
        """So many nulls, as the fast writer takes them."""
        return pa.nulls(count, wire_type(self.writer))


@dataclass(frozen=True)
class PutValue:
    """A value that holds no other."""

    writer: Scalar | Fixed | Enum
    raw: Raw


@dataclass(frozen=True)
class PutItems:
    """A list."""

    writer: Array
    item: Put


@dataclass(frozen=True)
class PutPairs:
    """A map."""

    writer: Map
    value: Put


@dataclass(frozen=True)
class PutRow:
    """A struct, or a row: for each field of the record how it is written, and from which column; -1 for none."""

    writer: Record
    parts: tuple[tuple[Put, int], ...]


@dataclass(frozen=True)
class PutChoice:
    """A value of one branch of a union, or null where there is a branch for that.

    Attributes:
        writer: The union.
        branch: Which branch values are written as.
        null: Which branch is null; None where none is.
        put: How values are written.
    """

    writer: Union
    branch: int
    null: int | None
    put: Put


Put = PutNull | PutValue | PutItems | PutPairs | PutRow | PutChoice


def plan_put(format_name: str, writer: AvroType, schema: pa.Schema, *, legacy: bool) -> Put:
    """How rows of a schema are written.

    Args:
        format_name: The format's name, for errors.
        writer: The schema of the messages.
        schema: The columns.
        legacy: What a timestamp is where the writer has a plain number, see `derive_record`.

    Raises:
        SchemaError: A column cannot be written by the schema, or is missing; names all such columns.
    """
    planning = _Planning(legacy, [])
    put = planning.put("", writer, pa.struct(list(schema)))
    if planning.problems:
        found = "; ".join(planning.problems)
        raise SchemaError(f"format {format_name} cannot write these columns by the schema of option 'schema': {found}")
    return put


@dataclass(frozen=True)
class _Planning:
    legacy: bool
    problems: list[str]

    def put(self, path: str, writer: AvroType, type_: pa.DataType) -> Put:
        if isinstance(writer, Union):
            return self._choice(path, writer, type_)
        found = self._try(path, writer, type_)
        if found is None:
            self.problems.append(f"column {path} of type {sql_name(type_)} is {type_name(writer)} in the schema")
            return PutNull(writer)
        return found

    def _try(self, path: str, writer: AvroType, type_: pa.DataType) -> Put | None:
        if isinstance(writer, Record) and pt.is_struct(type_):
            return self._row(path, writer, type_)
        if isinstance(writer, Array) and pt.is_list(type_):
            return PutItems(writer, self.put(f"{path}[]", writer.items, type_.value_type))
        if isinstance(writer, Map) and pt.is_map(type_):
            return PutPairs(writer, self.put(f"{path}[]", writer.values, type_.item_type))
        if isinstance(writer, Scalar | Fixed | Enum) and not pt.is_nested(type_):
            raw = raw_values(writer, type_, self.legacy)
            return None if raw is None else PutValue(writer, raw)
        return None

    def _choice(self, path: str, writer: Union, type_: pa.DataType) -> Put:
        null = writer.branches.index(NULL) if NULL in writer.branches else None
        for index, branch in enumerate(writer.branches):
            if index != null:
                tried = _Planning(self.legacy, [])
                found = tried._try(path, branch, type_)
                if found is not None and (not tried.problems or len(writer.branches) - (null is not None) == 1):
                    self.problems.extend(tried.problems)
                    return PutChoice(writer, index, null, found)
        self.problems.append(f"column {path} of type {sql_name(type_)} is {type_name(writer)} in the schema")
        return PutNull(writer)

    def _row(self, path: str, writer: Record, type_: pa.StructType) -> Put:
        columns = {type_.field(i).name: i for i in range(type_.num_fields)}
        inner = f"{path}." if path else ""
        unknown = columns.keys() - {field.name for field in writer.fields}
        self.problems.extend(f"column {inner}{name} is not in the schema" for name in sorted(unknown))
        parts: list[tuple[Put, int]] = []
        for field in writer.fields:
            index = columns.get(field.name)
            if index is None:
                parts.append((self._absent(inner, field), -1))
            else:
                parts.append((self.put(f"{inner}{field.name}", field.type, type_.field(index).type), index))
        return PutRow(writer, tuple(parts))

    def _absent(self, inner: str, field: Field) -> Put:
        may_be_null = isinstance(field.type, Union) and NULL in field.type.branches
        if not may_be_null and field.type != NULL:
            self.problems.append(f"column {inner}{field.name} is missing, which the schema has and may not be null")
        return PutNull(field.type)
