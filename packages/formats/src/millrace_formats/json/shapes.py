"""What the fast reader asks of msgspec: one generated class per struct, exactly the types that need no conversion."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.shared.sql_types import INTEGER_BITS

NULL = msgspec.Raw(b"null")
"""What a raw field holds when it is absent or null."""


def attribute(index: int) -> str:
    """The attribute that holds a struct's field, whatever the field's name is."""
    return f"f{index}"


def struct_shape(fields: list[pa.Field], all_needed: bool) -> type[msgspec.Struct] | None:
    """A class whose attribute ``f<i>`` is the struct's i-th field, or None when msgspec cannot read the struct.

    Args:
        fields: The struct's fields.
        all_needed: Whether an absent field is an error; else it is null.
    """
    definitions: list[Any] = []
    for index, field in enumerate(fields):
        shape = field_shape(field, all_needed)
        if shape is None:
            return None
        absent = NULL if shape is msgspec.Raw else None
        needed = all_needed or not field.nullable
        definitions.append((attribute(index), shape) if needed else (attribute(index), shape, absent))
    names = {attribute(index): field.name for index, field in enumerate(fields)}
    try:
        return msgspec.defstruct("Row", definitions, rename=names, gc=False, kw_only=True)
    except ValueError:
        return None  # a name with quotes or control characters


def field_shape(field: pa.Field, all_needed: bool) -> Any:
    """The type to ask for a field, element or map value, or None when msgspec cannot read it exactly."""
    shape = _type_shape(field.type, all_needed)
    return shape | None if field.nullable and shape is not None and shape is not msgspec.Raw else shape


def _type_shape(type_: pa.DataType, all_needed: bool) -> Any:
    if pt.is_struct(type_):
        return struct_shape([type_.field(i) for i in range(type_.num_fields)], all_needed)
    if pt.is_list(type_):
        element = field_shape(type_.value_field, all_needed)
        return None if element is None else list[element]  # type: ignore[valid-type]
    if pt.is_map(type_):
        item = field_shape(type_.item_field, all_needed)
        return None if item is None or type_.key_type != pa.string() else dict[str, item]  # type: ignore[valid-type]
    if bits := INTEGER_BITS.get(type_):
        return Annotated[int, msgspec.Meta(ge=-(1 << bits - 1), le=(1 << bits - 1) - 1)]
    if pt.is_decimal128(type_):
        return msgspec.Raw  # so that the number's own text can be had
    return _SCALARS.get(type_, str)


_SCALARS: dict[pa.DataType, Any] = {
    pa.bool_(): bool,
    pa.float32(): float,
    pa.float64(): float,
    pa.binary(): bytes,
}
