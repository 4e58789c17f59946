"""Values of Spark as texts, in which Python keeps them: pandas would round numbers and limit times."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_JSON_OPTIONS = (
    "MAP('timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\", "
    "'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\", 'timeZone', 'UTC')"
)
_CAST = {
    "boolean",
    "byte",
    "char",
    "decimal",
    "double",
    "float",
    "integer",
    "long",
    "short",
    "string",
    "time",
    "timestamp_ntz",
    "varchar",
    "void",
}
_EXACT = {"byte", "short", "integer", "long", "decimal", "date", "timestamp"}


def text_of(value: str, type_: DataType) -> str | None:
    """Return the expression of a value's text, which orders as the value does where `ORDERS` reads it.

    Args:
        value: The expression of the value.
        type_: Its type.

    Returns:
        The expression; None for a type whose values have no such text.
    """
    name = _name_of(type_)
    if name == "date":
        return f"CAST(UNIX_DATE({value}) AS STRING)"
    if name == "timestamp":
        return f"CAST(UNIX_MICROS({value}) AS STRING)"
    if name == "binary":
        return f"HEX({value})"
    return f"CAST({value} AS STRING)" if name in _CAST else None


def value_of(text: str, type_: DataType) -> str:
    """Return the expression of the value of a text that `text_of` or `nested_text_of` has made."""
    name = _name_of(type_)
    if name == "date":
        return f"DATE_FROM_UNIX_DATE(CAST({text} AS INT))"
    if name == "timestamp":
        return f"TIMESTAMP_MICROS(CAST({text} AS BIGINT))"
    if name == "binary":
        return f"UNHEX({text})"
    if name in _CAST:
        return f"CAST({text} AS {type_.simpleString()})"
    return f"FROM_JSON({text}, '{type_.simpleString()}', {_JSON_OPTIONS})"


def nested_text_of(value: str, type_: DataType) -> str | None:
    """Return the expression of a value's text, also of arrays, rows and maps by texts, whose texts have no order."""
    text = text_of(value, type_)
    return f"TO_JSON({value}, {_JSON_OPTIONS})" if text is None and _is_json(type_) else text


def _is_json(type_: Any) -> bool:
    """Return whether JSON holds the values of a type, and what they are made of."""
    name = _name_of(type_)
    if name == "array":
        return _is_json(type_.elementType)
    if name == "map":
        return type_.keyType.typeName() == "string" and _is_json(type_.valueType)
    if name == "struct":
        return all(field.name.isidentifier() and _is_json(field.dataType) for field in type_.fields)
    return name in _CAST | {"binary", "date", "timestamp"}


def _name_of(type_: DataType) -> str:
    # A TIME has its precision in its name
    return type_.typeName().partition("(")[0]


def order_of(type_: DataType) -> str:
    """Return which of `ORDERS` reads the texts of a type: as exact or floating-point numbers, or as texts."""
    name = type_.typeName()
    if name in {"float", "double"}:
        return "float"
    return "exact" if name in _EXACT else "text"


def _float_order(text: str) -> tuple[bool, float]:
    number = float(text)
    # Spark has NaN above all other numbers
    return (True, 0.0) if number != number else (False, number)


ORDERS: dict[str, Callable[[str], Any]] = {"float": _float_order, "exact": Decimal, "text": str}
"""Functions that make values which can be compared of texts."""
