"""msgspec types that read JSON exactly: one generated class a struct, of types that need no conversion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.shared.sql_types import INTEGER_BITS

NULL = msgspec.Raw(b"null")
"""The value of a raw field that is absent or null."""


def attribute(index: int) -> str:
    """Return the attribute that holds a struct's field, whatever the field's name is."""
    return f"f{index}"


def struct_type(fields: Sequence[pa.Field], all_required: bool) -> type[msgspec.Struct] | None:
    """Make a class whose attribute ``f<i>`` is the struct's i-th field; None when msgspec cannot read the struct.

    Args:
        fields: The struct's fields.
        all_required: Whether an absent field is an error; else it is null.
    """

    def default(field: pa.Field, type_: Any) -> tuple[Any, ...]:
        return () if all_required or not field.nullable else (absent_value(type_),)

    return define_row(fields, lambda field: field_type(field, all_required), default)


def define_row(
    fields: Sequence[pa.Field],
    type_of: Callable[[pa.Field], Any],
    default: Callable[[pa.Field, Any], tuple[Any, ...]],
) -> type[msgspec.Struct] | None:
    """Make a class of fields' types and defaults, with the attributes ``f0``, ``f1`` and so on.

    Args:
        fields: The fields.
        type_of: Returns the type to read a field as; None when msgspec cannot read it exactly.
        default: Returns the default of a field and its type, or nothing where the field is required.

    Returns:
        The class; None where msgspec cannot read a field, or has no class for its name.
    """
    definitions: list[Any] = []
    for index, field in enumerate(fields):
        type_ = type_of(field)
        if type_ is None:
            return None
        definitions.append((attribute(index), type_, *default(field, type_)))
    names = {attribute(index): field.name for index, field in enumerate(fields)}
    try:
        return msgspec.defstruct("Row", definitions, rename=names, gc=False, kw_only=True)
    except ValueError:
        return None  # a name with quotes or control characters


def absent_value(type_: Any) -> Any:
    """Return the value of a field that is absent, as null is read."""
    return NULL if type_ is msgspec.Raw else None


def field_type(field: pa.Field, all_required: bool) -> Any:
    """Return the type to read a field, element or map value as; None when msgspec cannot read it exactly."""
    type_ = _value_type(field.type, all_required)
    return type_ | None if field.nullable and type_ is not None and type_ is not msgspec.Raw else type_


def _value_type(type_: pa.DataType, all_required: bool) -> Any:
    if pt.is_struct(type_):
        return struct_type([type_.field(i) for i in range(type_.num_fields)], all_required)
    if pt.is_list(type_):
        element = field_type(type_.value_field, all_required)
        return None if element is None else list[element]  # type: ignore[valid-type] # a type made at run time
    if pt.is_map(type_):
        item = field_type(type_.item_field, all_required)
        if item is None or type_.key_type != pa.string():
            return None
        return dict[str, item]  # type: ignore[valid-type] # a type made at run time
    if bits := INTEGER_BITS.get(type_):
        return Annotated[int, msgspec.Meta(ge=-(1 << bits - 1), le=(1 << bits - 1) - 1)]
    if pt.is_decimal128(type_):
        return msgspec.Raw  # keeps the number's own text
    return _SCALARS.get(type_, str)


_SCALARS: dict[pa.DataType, Any] = {
    pa.bool_(): bool,
    pa.float32(): float,
    pa.float64(): float,
    pa.binary(): bytes,
}


def list_getter(expression: str) -> Callable[[list[Any]], list[Any]]:
    """Compile a function that evaluates an expression of ``row`` for each row of a list.

    With the attribute in the bytecode this is twice as fast as `operator.attrgetter`.
    """
    return eval(f"lambda rows: [{expression} for row in rows]")  # noqa: S307 - made of our own attribute names
