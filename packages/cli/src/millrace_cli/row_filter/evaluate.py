"""Evaluate a row filter on Arrow tables, with SQL's NULLs: a row is kept where its condition is true."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.contracts import is_headers
from millrace.options.suggestions import closest
from millrace_cli.row_filter.syntax import (
    ColumnPath,
    Combination,
    Comparison,
    Condition,
    Constant,
    IsNull,
    Match,
    Not,
    Truth,
    filter_error,
)

_NAMES = {
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
}

_OPERATORS = {
    "=": pc.equal,
    "==": pc.equal,
    "<>": pc.not_equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True)
class RowFilter:
    """A filter of rows.

    Attributes:
        text: As it was given.
        condition: What must be true of a row.
    """

    text: str
    condition: Condition

    def apply(self, rows: pa.Table) -> pa.Table:
        """Return the rows for which the condition is true.

        Raises:
            CommandError: There is no such column, or it cannot be compared in this way.
        """
        return rows.filter(_Evaluation(self.text, rows).mask(self.condition))

    def mask(self, rows: pa.Table) -> list[bool]:
        """Return for each row whether the condition is true.

        Raises:
            CommandError: As `apply`.
        """
        return [bool(answer) for answer in _Evaluation(self.text, rows).mask(self.condition).to_pylist()]


class _Evaluation:
    """The columns of some rows, for the conditions on them."""

    def __init__(self, text: str, rows: pa.Table) -> None:
        self._text = text
        self._rows = rows

    def mask(self, condition: Condition) -> Any:
        match condition:
            case Combination(operator, conditions):
                combine = pc.and_kleene if operator == "and" else pc.or_kleene
                return functools.reduce(combine, map(self.mask, conditions))
            case Not(inner):
                return pc.invert(self.mask(inner))
            case IsNull(column):
                return pc.is_null(self._values(column))
            case Truth(column):
                values = self._values(column)
                if not pt.is_boolean(values.type):
                    raise self._error(column.position, f"column {column} is {_name(values.type)}: compare it with =")
                return values
            case Match(column, pattern, is_regex, position):
                return self._match(column, pattern, is_regex, position)
            case Comparison():
                return self._compare(condition)

    def _match(self, column: ColumnPath, pattern: str, is_regex: bool, position: int) -> Any:
        values = self._values(column)
        if not _is_text(values.type):
            raise self._error(column.position, f"column {column} is {_name(values.type)}: LIKE and RLIKE are for text")
        if not is_regex:
            return pc.match_like(values, pattern)
        try:
            return pc.match_substring_regex(values, pattern)
        except pa.ArrowInvalid as error:
            raise self._error(position, f"no regular expression: {error}") from None

    def _compare(self, comparison: Comparison) -> Any:
        left, right = comparison.left, comparison.right
        if isinstance(left, Constant) and isinstance(right, Constant):
            raise self._error(left.position, "expected a column on one side; text is quoted as 'de'")
        operands = self._operand(left, right), self._operand(right, left)
        try:
            return _OPERATORS[comparison.operator](*operands)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            types = " with ".join(_name(operand.type) for operand in operands)
            raise self._error(comparison.position, f"{types} cannot be compared") from None

    def _operand(self, operand: ColumnPath | Constant, other: ColumnPath | Constant) -> Any:
        if isinstance(operand, ColumnPath):
            return self._values(operand)
        return self._constant(operand, cast("ColumnPath", other))

    def _constant(self, constant: Constant, column: ColumnPath) -> pa.Scalar:
        """Return a constant as a value of the column that it is compared with."""
        type_ = self._values(column).type
        is_number = pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_)
        problem = f"column {column} is {_name(type_)}, "
        if constant.kind == "boolean":
            if not pt.is_boolean(type_):
                raise self._error(constant.position, f"{problem}no truth value")
            return pa.scalar(constant.text.lower() == "true")
        if constant.kind == "number":
            if not is_number:
                raise self._error(constant.position, f"{problem}no number: quote the value, as in '{constant.text}'")
            return _number(constant.text, type_)
        if is_number or pt.is_boolean(type_) or pt.is_nested(type_):
            raise self._error(constant.position, f"{problem}no text")
        try:
            return _cast(constant.text, type_)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise self._error(
                constant.position, f"{problem}and {constant.text!r} is none; write it as it is shown"
            ) from None

    def _values(self, column: ColumnPath) -> pa.ChunkedArray:
        """Return the values of a column; names with points in them come before fields of structs."""
        names = self._rows.schema.names
        for length in range(len(column.names), 0, -1):
            name = ".".join(column.names[:length])
            if name in names:
                return self._entry(column, self._field(column, self._rows[name], column.names[length:]))
        close = closest(".".join(column.names), names)
        hint = f"did you mean {close}?" if close else f"the columns are {', '.join(names)}"
        raise self._error(column.position, f"there is no column {'.'.join(column.names)}; {hint}")

    def _field(self, column: ColumnPath, values: pa.ChunkedArray, fields: tuple[str, ...]) -> pa.ChunkedArray:
        for name in fields:
            if not pt.is_struct(values.type) or values.type.get_field_index(name) < 0:
                known = ", ".join(field.name for field in values.type) if pt.is_struct(values.type) else "none"
                raise self._error(column.position, f"there is no field {name!r} in it; its fields are {known}")
            values = pc.struct_field(values, name)
        return values

    def _entry(self, column: ColumnPath, values: pa.ChunkedArray) -> Any:
        if column.key is None:
            return values
        if pt.is_map(values.type) and _is_text(values.type.key_type):
            return pc.map_lookup(values, pa.scalar(column.key, values.type.key_type), "last")
        if is_headers(values.type):
            return pa.array([_header(row, column.key) for row in values.to_pylist()], pa.string())
        raise self._error(column.position, f"column {'.'.join(column.names)} is no map, and not the headers")

    def _error(self, position: int, problem: str) -> Exception:
        return filter_error(self._text, position, problem)


def _header(headers: list[dict[str, Any]] | None, name: str) -> str | None:
    """Return the last header of a name, as text."""
    values = [header["value"] for header in headers or () if header["key"] == name]
    return None if not values or values[-1] is None else values[-1].decode("utf-8", "replace")


def _number(text: str, type_: pa.DataType) -> pa.Scalar:
    if pt.is_floating(type_):
        return pa.scalar(float(text))
    number = Decimal(text)
    is_whole = number == number.to_integral_value() and abs(number) < 2**63
    # Decimals of whole numbers have more digits than Arrow compares with BIGINT
    return pa.scalar(int(number)) if is_whole else pa.scalar(number)


def _cast(text: str, type_: pa.DataType) -> pa.Scalar:
    """Return a text as a date, a time or such; a point in time without a zone is in UTC, as it is shown."""
    if pt.is_timestamp(type_) and type_.tz is not None:
        try:
            return pa.scalar(text).cast(pa.timestamp(type_.unit)).cast(type_)
        except pa.ArrowInvalid:
            pass
    return pa.scalar(text).cast(type_)


def _is_text(type_: pa.DataType) -> bool:
    return pt.is_string(type_) or pt.is_large_string(type_)


def _name(type_: pa.DataType) -> str:
    """Return the name that Spark has for a type, without what it holds."""
    name = "DECIMAL" if pt.is_decimal(type_) else str(type_).upper().partition("[")[0].partition("<")[0]
    return _NAMES.get(type_, name)
