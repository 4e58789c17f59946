"""Read JSON one message at a time, by the reference's rules: slow and complete. The fast reader gives the same rows.

Rules (those of Flink's ``JsonToRowDataConverters``):

- BOOLEAN: ``true`` and ``false``; other values are true if their text is "true" in any case.
- INT, BIGINT: numbers, their fraction cut off; text that is an integer. TINYINT, SMALLINT: integers and text alike.
  Beyond the type's range: an error, never another number.
- FLOAT, DOUBLE: numbers and text, "NaN" and "Infinity" as text only; beyond the range it is infinite.
- DECIMAL: numbers and text, never through a float, rounded half up to the column's scale; too large is an error.
- STRING: text; the text of a number or boolean as it stands; an object or array as compact JSON, last of repeated
  fields. A lone surrogate becomes ``?``, as in Java.
- BINARY: base64. DATE, TIME, TIMESTAMP, TIMESTAMP_NTZ: text, see `millrace_formats.shared.sql_times`.
- ARRAY, MAP, STRUCT: arrays and objects. The last of repeated fields counts.

A field that is absent or ``null`` is NULL. A message that is empty, blank or ``null`` gives no row. Beyond strict JSON,
as in the reference, control characters may stand in strings, and a byte order mark in front.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import MalformedMessageError, MissingValueError
from millrace.wording import not_an_object
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.parser import Number, json_text, parse, shown
from millrace_formats.json.time_advice import time_format_advice
from millrace_formats.shared import java_text, sql_times
from millrace_formats.shared.field_conversion import convert_elements, keep_nullability
from millrace_formats.shared.sql_types import INTEGER_BITS, sql_name

Convert = Callable[[Any], Any]

_BLANKS = b" \t\r\n"


class JsonExactReader:
    """Read messages one at a time.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._ignore = options.ignore_parse_errors
        self._convert = _struct_converter(list(schema), options)

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None when it gives no row.

        Dates, times and timestamps come as whole numbers of their Arrow type's unit, structs as dicts, maps as lists of
        pairs.

        Raises:
            MalformedMessageError: The message cannot be decoded.
        """
        return read_document(payload, self._row, ignore_errors=self._ignore)

    def _row(self, tree: Any) -> tuple[Any, ...] | None:
        if tree is None:
            return None
        if not isinstance(tree, dict):
            raise MalformedMessageError(not_an_object(tree, shown(tree)))
        return tuple(self._convert(tree).values())


def read_document(payload: bytes | None, read: Callable[[Any], Any], *, ignore_errors: bool) -> Any:
    """Parse a message and read its value.

    Args:
        payload: The message.
        read: Returns the rows of a parsed value; raises MalformedMessageError.
        ignore_errors: Whether a message that cannot be decoded gives no rows.

    Returns:
        The result of ``read``; None for a message that is null, blank, or cannot be decoded.
    """
    if payload is None or not payload.strip(_BLANKS):
        return None
    try:
        return read(parse(payload))
    except RecursionError:
        if not ignore_errors:
            raise MalformedMessageError("nested too deeply") from None
    except MalformedMessageError as error:
        if not ignore_errors or isinstance(error, MissingValueError):
            raise
    return None


def _converter(type_: pa.DataType, options: JsonOptions) -> Convert:
    if pt.is_struct(type_):
        return _object_only(_struct_converter([type_.field(i) for i in range(type_.num_fields)], options))
    if pt.is_map(type_):
        return _object_only(_map_converter(type_, options))
    if pt.is_list(type_):
        return _list_converter(type_.value_field, options)
    return _scalar_converter(type_, options)


def _scalar_converter(type_: pa.DataType, options: JsonOptions) -> Convert:
    convert = scalar_conversion(type_, options.iso)
    name = sql_name(type_)

    def convert_scalar(value: Any) -> Any:
        try:
            return convert(value)
        except ValueError as error:
            advice = time_format_advice(value, type_, options.iso)
            raise MalformedMessageError(f"{shown(value)} cannot be read as {name}: {error}{advice}") from None

    return convert_scalar


def field_converter(field: pa.Field, options: JsonOptions, step: str | None = None) -> Convert:
    """Return a converter of a field, element or map value that keeps its nullability and adds its path to errors.

    Args:
        field: The field.
        options: The options of json.
        step: The step in the path of errors; the field's name by default.
    """
    convert, ignore, nullable = _converter(field.type, options), options.nulls_fields, field.nullable
    name = field.name if step is None else step

    return keep_nullability(convert, name, ignore=ignore, nullable=nullable)


def _struct_converter(fields: list[pa.Field], options: JsonOptions) -> Convert:
    converters = [(field.name, field_converter(field, options)) for field in fields]
    all_required = options.fail_on_missing_field

    def convert(value: dict[str, Any]) -> dict[str, Any]:
        if all_required:
            for name, _ in converters:
                if name not in value:
                    raise MalformedMessageError("the field is missing", name)
        get = value.get
        return {name: field(get(name)) for name, field in converters}

    return convert


def _object_only(convert: Convert) -> Convert:
    def convert_object(value: Any) -> Any:
        if not isinstance(value, dict):
            raise MalformedMessageError(f"expected an object, found {shown(value)}")
        return convert(value)

    return convert_object


def _map_converter(type_: pa.DataType, options: JsonOptions) -> Convert:
    key, item = _scalar_converter(type_.key_type, options), field_converter(type_.item_field, options, "")

    def convert(value: dict[str, Any]) -> list[tuple[Any, Any]]:
        entries = {}
        for name, inner in value.items():
            try:
                entries[key(name)] = item(inner)
            except MalformedMessageError as error:
                raise error.within(f"[{shown(name)}]") from None
        return list(entries.items())

    return convert


def _list_converter(field: pa.Field, options: JsonOptions) -> Convert:
    element = field_converter(field, options, "")

    def convert(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MalformedMessageError(f"expected an array, found {shown(value)}")
        return convert_elements(element, value)

    return convert


def scalar_conversion(type_: pa.DataType, iso: bool) -> Convert:
    """Return the conversion of a parsed, non-null value to a scalar type; it raises ValueError."""
    if bits := INTEGER_BITS.get(type_):
        return _integer_conversion(bits)
    if pt.is_decimal128(type_):
        return lambda value: java_text.fit_decimal(
            java_text.parse_decimal(_scalar_text(value)), type_.precision, type_.scale
        )
    if pt.is_timestamp(type_):
        if type_.tz is None:
            return lambda value: sql_times.parse_local_timestamp(_only_text(value), iso)
        return lambda value: sql_times.parse_instant(_only_text(value), iso, type_.tz)
    if pt.is_time64(type_):
        divisor = 1 if type_.unit == "ns" else 1000
        return lambda value: sql_times.parse_time(_only_text(value)) // divisor
    return _CONVERSIONS[type_]


def _scalar_text(value: Any) -> str:
    """Return the text of a string, number or boolean; ValueError for an object or array."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    raise ValueError("it is an object or array")


def _only_text(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise ValueError("it is not a string")  # noqa: TRY004 - the value is wrong, not the program
    return value


def _to_boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else isinstance(value, str) and java_text.parse_boolean(value)


def _integer_conversion(bits: int) -> Convert:
    rejects_fractions = bits < 32

    def convert(value: Any) -> int:
        if isinstance(value, Number) and not rejects_fractions and not value.lstrip("-").isdigit():
            return java_text.truncate_number(value, bits)
        return java_text.parse_integer(_scalar_text(value), bits)

    return convert


def _to_double(value: Any) -> float:
    # an integer has no negative zero
    return 0.0 if value == "-0" and isinstance(value, Number) else java_text.parse_double(_scalar_text(value))


def _to_float(value: Any) -> float:
    # The reference rounds numbers twice, by way of a double, and text once
    return _to_double(value) if isinstance(value, Number) else java_text.parse_float(_scalar_text(value))


def _to_string(value: Any) -> str:
    text = json_text(value) if isinstance(value, dict | list) else _scalar_text(value)
    return text.encode("utf-8", "replace").decode() if _has_surrogate(text) else str(text)


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


_CONVERSIONS: dict[pa.DataType, Convert] = {
    pa.bool_(): _to_boolean,
    pa.float32(): _to_float,
    pa.float64(): _to_double,
    pa.string(): _to_string,
    pa.binary(): lambda value: java_text.parse_base64(_only_text(value)),
    pa.date32(): lambda value: sql_times.parse_date(_only_text(value)),
}
