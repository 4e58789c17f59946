"""Columns of rows beside those of a message's value: its key's, and metadata; and prefixes of names."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from millrace.contracts import SampledMessage
from millrace.errors import MalformedMessageError, SchemaError
from millrace_catalog.inference.json_payload import parse_object, without_envelope
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import BIGINT, BYTES, INT, STRING, DataType, MapType, timestamp_ltz, with_nullability

Message = Mapping[str, Any]
"""A message's values by the columns of the source."""

SOURCE_COLUMNS = {
    "timestamp-type": "__timestamp_type",
    "headers": "__headers",
    "leader-epoch": "__leader_epoch",
}
"""Columns of the source for metadata that it does not have by itself."""

HEADERS_COLUMN = SOURCE_COLUMNS["headers"]
"""The column of a source's messages with their headers, which collectors of malformed messages get, too."""

_TYPES: dict[str, DataType] = {
    "topic": STRING,
    "partition": INT,
    "offset": BIGINT,
    "timestamp": timestamp_ltz(3),
    "timestamp-type": STRING,
    "headers": MapType(with_nullability(STRING, False), BYTES),
    "leader-epoch": INT,
}


@dataclass(frozen=True)
class ExtraColumns:
    """Settings of such columns; plain data that travels to executors.

    Attributes:
        has_key: Whether the fields of keys, which are JSON, are columns.
        key_prefix: A prefix of the names of key columns.
        value_prefix: A prefix of the names of value columns.
        metadata: Metadata of messages that rows have as columns.
    """

    has_key: bool = False
    key_prefix: str = ""
    value_prefix: str = ""
    metadata: tuple[str, ...] = ()

    @property
    def are_none(self) -> bool:
        """True where rows have the columns of values only, by their own names."""
        return not (self.has_key or self.value_prefix or self.metadata)

    @property
    def source_columns(self) -> tuple[str, ...]:
        """The columns of the source that they are computed from, besides those of every parser."""
        return tuple(SOURCE_COLUMNS[name] for name in self.metadata if name in SOURCE_COLUMNS)


class MalformedKeyError(MalformedMessageError):
    """The key of a message is not what the columns of keys need."""


class ExtraColumnReader:
    """Add such columns to changes.

    Args:
        extra: The settings.
        options: Options of the format of values, by which keys are inferred too.
    """

    def __init__(self, extra: ExtraColumns, options: FormatOptions) -> None:
        self._extra = extra
        self._objects = JsonObjectColumns(options)

    def add(
        self, change: TableChange, columns: Mapping[str, DataType], message: Message
    ) -> tuple[TableChange, dict[str, DataType]]:
        """Return a change whose rows have all columns, and these columns.

        A column of the value counts more than one of the key with the same name.

        Raises:
            MalformedKeyError: The key is no JSON object.
            SchemaError: A metadata column has the name of another one.
        """
        prefix = self._extra.value_prefix
        names = {name: prefix + name for name in columns}
        row, types = self._key(message)
        metadata = {name: _METADATA[name](message) for name in self._extra.metadata}
        for name in metadata:
            if name in names.values() or name in types:
                raise SchemaError(
                    f"table {change.table!r} has a column {name!r}, as 'metadata.list' names one: set "
                    f"'value.fields-prefix', or leave {name} out of 'metadata.list'"
                )
        added = row | metadata
        types |= {names[name]: type_ for name, type_ in columns.items()}
        types |= {name: _TYPES[name] for name in metadata}

        def widened(image: dict[str, Any] | None) -> dict[str, Any] | None:
            return None if image is None else added | {prefix + name: value for name, value in image.items()}

        rows = tuple((widened(before), widened(after)) for before, after in change.rows)
        key = None if change.primary_key is None else tuple(prefix + name for name in change.primary_key)
        kept_names = tuple(prefix + name for name in change.kept_columns)
        return replace(change, rows=rows, primary_key=key, kept_columns=kept_names), types

    def _key(self, message: Message) -> tuple[dict[str, Any], dict[str, DataType]]:
        fields = _parse_key(message["key"]) if self._extra.has_key else {}
        prefix = self._extra.key_prefix
        types = self._objects.columns_of(fields)[0]
        return (
            {prefix + name: value for name, value in fields.items()},
            {prefix + name: type_ for name, type_ in types.items()},
        )


def _parse_key(key: bytes | None) -> dict[str, Any]:
    try:
        return without_envelope(parse_object(key) or {})
    except MalformedMessageError as error:
        raise MalformedKeyError(f"the key is no JSON object: {error}") from None


def _timestamp(message: Message) -> str | None:
    moment: datetime | None = message["timestamp"]
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds") + "Z"


def _headers(message: Message) -> dict[str, str | None]:
    headers = message[SOURCE_COLUMNS["headers"]] or ()
    return {name: None if value is None else base64.b64encode(value).decode() for name, value in headers}


_METADATA: dict[str, Callable[[Message], Any]] = {
    "topic": lambda message: message["topic"],
    "partition": lambda message: message["partition"],
    "offset": lambda message: message["offset"],
    "timestamp": _timestamp,
    "timestamp-type": lambda message: message[SOURCE_COLUMNS["timestamp-type"]],
    "headers": _headers,
    "leader-epoch": lambda message: message[SOURCE_COLUMNS["leader-epoch"]],
}


def sampled(topic: str, message: SampledMessage) -> Message:
    """Return a sampled message by the columns of the source, without metadata, whose types need no values."""
    return {
        "topic": topic,
        "partition": message.partition,
        "offset": message.offset,
        "timestamp": None,
        "key": message.key,
        **dict.fromkeys(SOURCE_COLUMNS.values()),
    }
