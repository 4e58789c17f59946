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
        headers: Its headers, in order, as far as they are known.
    """

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class SchemaInference(Plugin, ABC):
    """Infers the columns of a read without a user-defined schema. It has the same name as its format.

    Its options are ``<name>.<option>`` or ``value.<name>.<option>``, like those of the format.
    """

    @abstractmethod
    def infer(
        self, topics: Mapping[str, Sequence[SampledMessage]], max_columns: int, *, skip_malformed: bool = False
    ) -> pa.Schema:
        """Return columns with which the format can read such messages. Empty if they contain none.

        Args:
            topics: Messages by topic. Only their values are used, and columns must fit those of all topics. If there
            are no topics, return the columns that the options declare, if any.
            max_columns: The maximum number of columns, including nested fields.
            skip_malformed: Ignore malformed messages, regardless of the options.

        Raises:
            MessageError: One of them is malformed.
            SchemaError: The columns cannot be read, for example because there are too many.
        """
