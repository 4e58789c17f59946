"""Reader of changes that are JSON objects with rows and their table's name, whatever the names of their fields are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import describe, parse_object
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import Observation, TableChange, widen_rows
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import DataType


class ImageReader(ABC):
    """Base of such readers.

    Args:
        topic: Name of the topic.
        options: Options of the format.
    """

    format: ClassVar[str]

    def __init__(self, topic: str, options: FormatOptions | None = None) -> None:
        self.options = options or FormatOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._objects = JsonObjectColumns(self.options)

    @abstractmethod
    def change_of(self, message: dict[str, Any]) -> TableChange | None:
        """Return the change of a message; None when it is none.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        change = self.parse(payload)
        return None if change is None else Observation(change.table, self.columns_of(change), change.primary_key)

    def parse(self, payload: bytes | None) -> TableChange | None:
        """Parse the change of a message; None when it is none, such as a tombstone.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """
        message = parse_object(payload)
        return None if message is None else self.change_of(message)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's rows."""
        rows = [row for pair in change.rows for row in pair if row is not None]
        return widen_rows(self._objects.columns_of(row)[0] for row in rows)

    def table_of(self, message: Mapping[str, Any], fields: Iterable[str]) -> str:
        """Return the id of a message's table: the names in some fields, or else that of the topic."""
        return ".".join(name for field in fields if isinstance(name := message.get(field), str) and name) or self._topic

    def names_in(self, message: Mapping[str, Any], field: str) -> tuple[str, ...] | None:
        """Return the names of columns in a field; None where it has none.

        Raises:
            MalformedMessageError: It holds something else.
        """
        names = message.get(field)
        if not names:
            return None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise MalformedMessageError(f"expected names of columns, found {describe(names)}", field)
        return tuple(names)
