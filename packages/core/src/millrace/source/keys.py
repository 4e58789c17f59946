"""The columns of keys, beside those that values decode to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from millrace.configuration.parts import Part
from millrace.contracts import Decoded, Decoder
from millrace.errors import MessageError, PluginError
from millrace.plugins.manager import PluginRef
from millrace.source.columns import null_in
from millrace.source.decode import checked, decode_keys
from millrace.source.fetch import Messages


class Keys:
    """Reads the keys of messages.

    A key that gives no row, as a null one, leaves its columns NULL: the message has a value all the same.

    Args:
        key_format: Their format.
        part: Their columns.
        shown: Which of these are read from the key; the others are read from the value as well, and from there.
        advice: What to do about a malformed key, or nothing.
    """

    def __init__(self, key_format: PluginRef, part: Part, shown: Collection[str], advice: str) -> None:
        self._name = key_format.name
        self._decoder: Decoder = key_format.create().decoder(part.schema)
        self._part = part
        self._shown = [index for index, name in enumerate(part.columns) if name in shown]
        self._advice = advice

    def decode(self, messages: Messages) -> Decoded:
        """What the keys decode to.

        Raises:
            MessageError: A key is malformed.
            PluginError: The format does not keep its contract.
        """
        decoded = decode_keys(self._decoder, self._advice, messages)
        return checked(decoded, self._part.schema, len(messages.items), self._name, None)

    def columns(self, keys: Decoded, messages: Messages, values: Decoded, schema: pa.Schema) -> dict[str, pa.Array]:
        """The columns of the keys for each row of the values.

        Args:
            keys: What the keys were decoded to.
            messages: The messages.
            values: What the values were decoded to.
            schema: The query's columns.

        Raises:
            MessageError: A column is NOT NULL, and a message has no key.
        """
        rows = self._rows_of(keys, len(messages.items), values.message_index)
        made = {}
        for index in self._shown:
            field, column = schema.field(self._part.columns[index]), keys.rows.column(index)
            if rows is not None:
                column = column.take(rows)
            if column.null_count and not field.nullable:
                row = column.is_null().index(True).as_py()
                message = row if values.message_index is None else values.message_index[row].as_py()
                raise MessageError(null_in(field, messages, message))
            made[field.name] = column
        return made

    def _rows_of(self, keys: Decoded, count: int, wanted: pa.Int32Array | None) -> pa.Array | None:
        """For each row of the values the row of its key, null where it has none; None when both stand side by side."""
        if keys.message_index is None:
            return wanted
        found: Any = keys.message_index.to_numpy()
        if (np.diff(found) == 0).any():
            raise PluginError(f"format {self._name!r} gave several rows for one key, which has one at most")
        places = np.full(count, -1, np.int64)
        places[found] = np.arange(len(found))
        rows = pa.array(places, mask=places < 0)
        return rows if wanted is None else rows.take(wanted)
