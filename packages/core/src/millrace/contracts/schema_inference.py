"""Schema inferences: which columns messages have, of formats whose messages tell it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millrace.contracts.plugin import Plugin


@dataclass(frozen=True, slots=True)
class SampledMessage:
    """A message read to infer columns from.

    Attributes:
        partition: Its partition.
        offset: Its offset.
        key: Its key; None when it has none.
        value: Its value; None for a tombstone.
    """

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class SchemaInference(Plugin, ABC):
    """Tells the columns of a read for which the user gave none. It has the name of the format that it is for.

    Its options are given as those of the format are, ``<name>.<option>`` or ``value.<name>.<option>``.
    """

    @abstractmethod
    def infer(
        self, topics: Mapping[str, Sequence[SampledMessage]], max_columns: int, *, skip_malformed: bool = False
    ) -> pa.Schema:
        """The columns that the format can read from messages like these; none when they tell nothing.

        Args:
            topics: Messages by topic, of which only the values count; a column holds what those of all topics have.
            max_columns: How many columns there may be, fields within columns included.
            skip_malformed: Whether malformed messages are left out, whatever the options say.

        Raises:
            MessageError: One of them is malformed.
            SchemaError: They make no columns that could be read, such as too many.
        """
