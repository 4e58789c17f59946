"""Columns in a time zone: formats read text without a zone in that of the column."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def in_zone(schema: pa.Schema, zone: str) -> pa.Schema:
    """The same columns, those of instants in a zone, nested ones too."""
    return pa.schema([field.with_type(_in_zone(field.type, zone)) for field in schema])


def _in_zone(type_: pa.DataType, zone: str) -> pa.DataType:
    if pt.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp(type_.unit, zone)
    if pt.is_struct(type_):
        return pa.struct([field.with_type(_in_zone(field.type, zone)) for field in type_.fields])
    if pt.is_map(type_):
        items = type_.item_field
        return pa.map_(_in_zone(type_.key_type, zone), items.with_type(_in_zone(items.type, zone)))
    if pt.is_list(type_):
        values = type_.value_field
        return pa.list_(values.with_type(_in_zone(values.type, zone)))
    return type_
