"""msgspec types of whole messages, and columns of the metadata beside their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa

from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.metadata import MetadataKey, texts_of
from millrace_formats.changelog.row_types import row_type
from millrace_formats.json.columns import Build
from millrace_formats.json.msgspec_types import absent_value, list_getter


def message_type(
    layout: Layout,
    fields: list[pa.Field],
    keys: Sequence[MetadataKey],
    has_payload: bool | None,
    others: Sequence[tuple[str, Any, Any]] = (),
) -> type[msgspec.Struct] | None:
    """Make a class for the messages of a tool; None when msgspec cannot read them.

    Its attributes are ``operation``, the fields of `Layout.row_fields`, and ``m_<field>`` for metadata. With a payload
    they are attributes of ``payload``, except for metadata beside the payload.

    Args:
        layout: The layout of messages.
        fields: The columns.
        keys: The requested metadata.
        has_payload: Whether the change is in a field of its own.
        others: Names, types and defaults of other fields, which become attributes.
    """
    if {name for name, _, _ in others} & {key.field for key in keys}:
        return None
    row, partial = row_type(fields, partial=False), row_type(fields, partial=True)
    if row is None or partial is None:
        return None
    rows = [(name, type_, None) for name, type_ in layout.row_fields(row, partial).items()]
    inside = [key for key in keys if not (has_payload and key.is_of_root)]
    change = _struct([("operation", layout.operation_type), *rows, *others], {"operation": layout.field}, inside)
    if not has_payload:
        return change
    return _struct([("payload", change)], {}, [key for key in keys if key.is_of_root])


def metadata_column(key: MetadataKey, keys: Sequence[MetadataKey]) -> Build:
    """Return a builder of a key's column from messages that were read for ``keys``, a value a message."""
    build, attribute, inner = key.reader.column, f"row.m_{key.field}", key.inner
    if inner is None:
        values = list_getter(attribute)
    elif _whole(key.field, keys) is None:
        values = list_getter(f"None if {attribute} is None else {attribute}.{inner}")
    else:
        objects = list_getter(attribute)
        return lambda messages, reject: build(texts_of(objects(messages), inner, reject), reject)
    return lambda messages, reject: build(values(messages), reject)


def _struct(own: list[Any], names: dict[str, str], keys: Sequence[MetadataKey]) -> type[msgspec.Struct]:
    fields = dict.fromkeys(key.field for key in keys)
    metadata = [_optional(f"m_{field}", _metadata_type(field, keys)) for field in fields]
    names = names | {f"m_{field}": field for field in fields}
    return msgspec.defstruct("Message", [*own, *metadata], rename=names, gc=False, kw_only=True)


def _metadata_type(field: str, keys: Sequence[MetadataKey]) -> Any:
    whole = _whole(field, keys)
    if whole is not None:
        return whole.reader.msgspec_type
    inner = {key.inner: key.reader.msgspec_type for key in keys if key.field == field and key.inner is not None}
    return msgspec.defstruct("Inner", [_optional(name, type_) for name, type_ in inner.items()], gc=False) | None


def _whole(field: str, keys: Sequence[MetadataKey]) -> MetadataKey | None:
    return next((key for key in keys if key.field == field and key.inner is None), None)


def _optional(name: str, type_: Any) -> tuple[str, Any, Any]:
    return name, type_, absent_value(type_)
