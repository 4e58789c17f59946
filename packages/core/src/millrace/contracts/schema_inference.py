"""Schema inferences: derive the columns of a read from sampled messages."""

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
    """Infer the columns of a read without a schema of the user's. Its name is the name of its format.

    Its options are given as those of the format are, ``<name>.<option>`` or ``value.<name>.<option>``.
    """

    @abstractmethod
    def infer(
        self, topics: Mapping[str, Sequence[SampledMessage]], max_columns: int, *, skip_malformed: bool = False
    ) -> pa.Schema:
        """Return the columns that the format can read from such messages; empty when they hold none.

        Args:
            topics: Messages by topic, of which only the values count; a column holds what those of all topics have.
                Without topics no messages are looked at: return the columns that the options give, if there are any.
            max_columns: The largest number of columns, fields within columns included.
            skip_malformed: Leave out malformed messages, whatever the options say.

        Raises:
            MessageError: One of them is malformed.
            SchemaError: Their columns cannot be read, such as too many.
        """
