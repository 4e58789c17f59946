"""The columns of keys, beside those that values decode to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import Decoded, Decoder
from millrace.errors import PluginError
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import Part
from millrace.records.messages import Messages
from millrace.source.reader.decode import decode
from millrace.source.reader.time_zone import in_zone


class Keys:
    """Reads the keys of messages.

    A key that gives no row, as a null one, leaves its columns NULL: the message has a value all the same.

    Args:
        key_format: Their format.
        part: Their columns.
        shown: Which of these are read from the key; the others are read from the value as well, and from there.
        zone: The time zone of text that has none.

    Attributes:
        format: Their format.
        shown: The names of the columns that are read from the key.
    """

    def __init__(self, key_format: PluginRef, part: Part, shown: Collection[str], zone: str) -> None:
        self.format = key_format
        self.shown = frozenset(shown)
        self._decoder: Decoder = key_format.create().decoder(in_zone(part.schema, zone))
        self._part = part

    def explain(self) -> str:
        """How they are read, in words for a person."""
        return self._decoder.explain()

    def decode(self, messages: Messages) -> Decoded:
        """What the keys decode to, malformed ones among them.

        Raises:
            PluginError: The format does not keep its contract.
        """
        payloads = list(map(Message.key, messages.items))
        return decode(self._decoder, payloads, self._part.schema, self.format.name)

    def columns(self, keys: Decoded, count: int, wanted: pa.Int32Array | None) -> dict[str, pa.Array]:
        """The columns of the keys for each row of the values, NULL where there is no key.

        Args:
            keys: What the keys were decoded to.
            count: How many messages there are.
            wanted: For each row the index of its message; None when every message has one row.

        Raises:
            PluginError: A key has several rows.
        """
        rows = self._rows_of(keys, count, wanted)
        return {
            name: column if rows is None else column.take(rows)
            for name, column in zip(self._part.columns, keys.rows.columns, strict=True)
            if name in self.shown
        }

    def _rows_of(self, keys: Decoded, count: int, wanted: pa.Int32Array | None) -> pa.Array | None:
        """For each row of the values the row of its key, null where it has none; None when both stand side by side."""
        if keys.message_index is None:
            return wanted
        found: Any = keys.message_index.to_numpy()
        if (np.diff(found) == 0).any():
            raise PluginError(f"format {self.format.name!r} gave several rows for one key, which has one at most")
        places = np.full(count, -1, np.int64)
        places[found] = np.arange(len(found))
        rows = pa.array(places, mask=places < 0)
        return rows if wanted is None else rows.take(wanted)
