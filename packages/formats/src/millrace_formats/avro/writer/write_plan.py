"""Plans of writing: a tree from columns to a schema, which all writers are built from."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import SchemaError
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
from millrace_formats.avro.writer.raw_values import ToRaw, to_raw_values
from millrace_formats.shared.sql_types import sql_name


@dataclass(frozen=True)
class WriteNull:
    """Write null for a field that no column has."""

    writer: AvroType


@dataclass(frozen=True)
class WriteScalar:
    """Write a value without parts."""

    writer: Primitive | Fixed | AvroEnum
    to_raw: ToRaw


@dataclass(frozen=True)
class WriteList:
    """Write a list as an array."""

    writer: AvroArray
    item: WritePlan


@dataclass(frozen=True)
class WriteMap:
    """Write a map."""

    writer: AvroMap
    value: WritePlan


@dataclass(frozen=True)
class WriteRecord:
    """Write a struct, or a row.

    Attributes:
        writer: The record.
        parts: For each field of the record its plan and the index of its column; -1 without one.
    """

    writer: Record
    parts: tuple[tuple[WritePlan, int], ...]


@dataclass(frozen=True)
class WriteUnion:
    """Write a value as one branch of a union, or null as its null branch.

    Attributes:
        writer: The union.
        branch: Index of the branch of values.
        null: Index of the null branch; None without one.
        value: The plan of values.
    """

    writer: Union
    branch: int
    null: int | None
    value: WritePlan


WritePlan = WriteNull | WriteScalar | WriteList | WriteMap | WriteRecord | WriteUnion


def plan_write(format_name: str, writer: AvroType, schema: pa.Schema, *, legacy: bool) -> WritePlan:
    """Plan how rows become messages.

    Args:
        format_name: The format's name, for errors.
        writer: The schema of the messages.
        schema: The columns.
        legacy: The meaning of a timestamp where the writer's schema has a plain number, see `derive_record`.

    Raises:
        SchemaError: Names all columns that cannot be written by the schema, or are missing.
    """
    planning = _SchemaPlanning(legacy, [])
    plan = planning.plan("", writer, pa.struct(list(schema)))
    if planning.problems:
        problems = "; ".join(planning.problems)
        raise SchemaError(
            f"format {format_name} cannot write these columns by the schema of option 'schema': {problems}"
        )
    return plan


def record_plan(plan: WritePlan) -> WriteRecord:
    """Return the plan of the record of rows, which may be the only branch of a union beside null."""
    inner = plan.value if isinstance(plan, WriteUnion) else plan
    if not isinstance(inner, WriteRecord):
        raise AssertionError("rows are written as a record")  # noqa: TRY004 - a bug of the caller
    return inner


@dataclass(frozen=True)
class _SchemaPlanning:
    """Plan the parts of one schema, and collect the problems."""

    legacy: bool
    problems: list[str]

    def plan(self, path: str, writer: AvroType, type_: pa.DataType) -> WritePlan:
        if isinstance(writer, Union):
            return self._union_plan(path, writer, type_)
        return self._try_plan(path, writer, type_) or self._refuse(path, writer, type_)

    def _try_plan(self, path: str, writer: AvroType, type_: pa.DataType) -> WritePlan | None:
        if isinstance(writer, Record) and pt.is_struct(type_):
            return self._record_plan(path, writer, type_)
        if isinstance(writer, AvroArray) and pt.is_list(type_):
            return WriteList(writer, self.plan(f"{path}[]", writer.items, type_.value_type))
        if isinstance(writer, AvroMap) and pt.is_map(type_):
            return WriteMap(writer, self.plan(f"{path}[]", writer.values, type_.item_type))
        if isinstance(writer, Primitive | Fixed | AvroEnum) and not pt.is_nested(type_):
            to_raw = to_raw_values(writer, type_, self.legacy)
            return None if to_raw is None else WriteScalar(writer, to_raw)
        return None

    def _union_plan(self, path: str, writer: Union, type_: pa.DataType) -> WritePlan:
        null = writer.branches.index(NULL) if NULL in writer.branches else None
        has_one_branch = len(writer.branches) - (null is not None) == 1
        for index, branch in enumerate(writer.branches):
            if index != null:
                trial = _SchemaPlanning(self.legacy, [])
                plan = trial._try_plan(path, branch, type_)
                if plan is not None and (not trial.problems or has_one_branch):
                    self.problems.extend(trial.problems)
                    return WriteUnion(writer, index, null, plan)
        return self._refuse(path, writer, type_)

    def _record_plan(self, path: str, writer: Record, type_: pa.StructType) -> WritePlan:
        columns = {type_.field(i).name: i for i in range(type_.num_fields)}
        prefix = f"{path}." if path else ""
        unknown = columns.keys() - {field.name for field in writer.fields}
        self.problems.extend(f"column {prefix}{name} is not in the schema" for name in sorted(unknown))
        parts: list[tuple[WritePlan, int]] = []
        for field in writer.fields:
            column = columns.get(field.name)
            if column is None:
                parts.append((self._absent_plan(prefix, field), -1))
            else:
                parts.append((self.plan(f"{prefix}{field.name}", field.type, type_.field(column).type), column))
        return WriteRecord(writer, tuple(parts))

    def _absent_plan(self, prefix: str, field: RecordField) -> WritePlan:
        is_nullable = isinstance(field.type, Union) and NULL in field.type.branches
        if not is_nullable and field.type != NULL:
            self.problems.append(
                f"column {prefix}{field.name} is missing, but its field in the schema must not be null"
            )
        return WriteNull(field.type)

    def _refuse(self, path: str, writer: AvroType, type_: pa.DataType) -> WriteNull:
        self.problems.append(f"column {path} of type {sql_name(type_)} is {describe_type(writer)} in the schema")
        return WriteNull(writer)
