"""What formats make of rows: the values of records, and their keys."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import NamedTuple

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.contracts import ChangelogFormat, Encoder, Format, Payloads, SerializationContext
from millrace.errors import PluginError, SchemaError
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import Part, divide
from millrace.sink.writer.row_kinds import check_row_kind_column, checked_row_kinds
from millrace.sink.writer.writable_metadata import KEY, VALUE, Carriers


class Made(NamedTuple):
    """What makes the keys or values of records.

    Attributes:
        make: Makes them of rows, for a topic.
        depends_on_topic: Whether it must be asked topic by topic.
    """

    make: Callable[[str, pa.RecordBatch], Payloads]
    depends_on_topic: bool = False

    def of(self, rows: pa.RecordBatch) -> Callable[[str, pa.Array | None], Payloads]:
        """The payloads of some rows, by a topic and the places of its rows; no places mean all."""
        if self.depends_on_topic:
            return lambda topic, chosen: self.make(topic, rows if chosen is None else rows.take(chosen))
        # Rows of all topics together are encoded faster than in parts
        whole = self.make("", rows)
        return lambda _, chosen: whole if chosen is None else Payloads(whole.to_array().take(chosen))


def made_for(config: SinkConfig, schema: pa.Schema, carriers: Carriers) -> tuple[Made, Made | None]:
    """What makes the values of records, of one column as it is or by the format, and their keys, where a format does.

    Args:
        config: How to write.
        schema: The rows' columns.
        carriers: The columns that carry metadata.

    Raises:
        SchemaError: A format cannot write its columns, or there are too many or none for it.
    """
    left = pa.schema([field for field in schema if field.name not in carriers.values()])
    if config.value_format is None:
        return _whole_value(left.names, carriers), None
    made: Format = config.value_format.create()
    kinds = _row_kinds(made, left, config.options.row_kind_column)
    parts = divide(pa.schema([field for field in left if field.name != kinds]), config.options)
    keys = None if config.key_format is None or parts.key is None else _keys(config.key_format, parts.key, carriers)
    if VALUE in carriers:
        return _whole_value(parts.value.columns, carriers), keys
    if not parts.value.columns:
        raise SchemaError(_nothing_left(config.value_format.name, kinds, has_keys=keys is not None))
    return _of_format(config.value_format.name, made, parts.value, kinds), keys


def _nothing_left(name: str, kinds: str | None, *, has_keys: bool) -> str:
    named = "the options 'metadata.columns' and 'key.fields'" if has_keys else "the option 'metadata.columns'"
    return (
        f"no column is left for format {name!r}: all are named in {named}"
        f"{'' if kinds is None else f' or are the row kinds ({kinds})'}. Add columns for the value, or name one that "
        f"is the whole value, as {VALUE} AS value"
    )


def _whole_value(left: Collection[str], carriers: Carriers) -> Made:
    if left:
        raise SchemaError(
            f"metadata column {carriers[VALUE]!r} ({VALUE}) is the whole value, beside which no other column can be "
            f"written: drop {', '.join(left)}, or the entry of {VALUE} in the option 'metadata.columns'"
        )
    return Made(lambda _, rows: Payloads(rows.column(carriers[VALUE])))


def _keys(key_format: PluginRef, part: Part, carriers: Carriers) -> Made:
    if KEY in carriers:
        raise SchemaError(
            f"metadata column {carriers[KEY]!r} ({KEY}) is the whole key, which option 'key.format' makes of "
            f"{', '.join(part.columns)}: drop the option, or the entry of {KEY} in the option 'metadata.columns'"
        )
    return _of_format(key_format.name, key_format.create(), part, None, is_key=True)


def _row_kinds(made: Format, left: pa.Schema, column: str) -> str | None:
    """The column of row kinds, if there is one."""
    if not isinstance(made, ChangelogFormat) or column not in left.names:
        return None
    check_row_kind_column(left, column)
    return column


def _of_format(name: str, made: Format, part: Part, kinds: str | None, *, is_key: bool = False) -> Made:
    encoders = _encoders(made, part.schema, is_key)
    return Made(functools.partial(_encoded, name, encoders, part, kinds), made.depends_on_topic)


def _encoders(made: Format, schema: pa.Schema, is_key: bool) -> Callable[[str], Encoder]:
    """The encoder for each topic: one for all where that does not matter."""
    encoder = made.encoder(schema)
    if not made.depends_on_topic:
        return lambda _: encoder
    return functools.lru_cache(maxsize=None)(
        lambda topic: made.encoder_for(schema, SerializationContext(topic, is_key))
    )


def _encoded(
    name: str, encoders: Callable[[str], Encoder], part: Part, kinds: str | None, topic: str, rows: pa.RecordBatch
) -> Payloads:
    row_kinds = None if kinds is None else checked_row_kinds(rows, kinds)
    payloads = encoders(topic).encode(part.of_rows(rows), row_kinds)
    if len(payloads) != rows.num_rows:
        raise PluginError(f"format {name!r} gave {len(payloads)} payloads for {rows.num_rows} rows")
    return payloads
