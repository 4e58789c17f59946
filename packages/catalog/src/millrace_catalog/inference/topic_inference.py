"""Inferring the tables of a topic from some of its messages."""

from __future__ import annotations

from millrace.errors import MalformedMessageError, MessageError, SchemaError
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import InferenceOptions
from millrace_catalog.inference.reader import PayloadReader
from millrace_catalog.inference.result import Inferred, Skipped
from millrace_catalog.inference.table_inference import TableInference

_SHOWN_BYTES = 60


class Inference:
    """Takes in messages, and tells what tables they make.

    The types do not depend on the order of messages; the order of columns and the evidence do.

    Args:
        topic: The topic, for errors.
        reader: What reads its messages.
        options: What does not depend on their format.
    """

    def __init__(self, topic: str, reader: PayloadReader, options: InferenceOptions | None = None) -> None:
        self._topic = topic
        self._reader = reader
        self._options = options or InferenceOptions()
        self._tables: dict[str, TableInference] = {}
        self._silent = 0
        self._skipped: list[Skipped] = []

    def add(self, position: Position, payload: bytes | None) -> None:
        """Take in a message.

        Args:
            position: Where it is.
            payload: Its value; None for a tombstone.

        Raises:
            MessageError: It cannot be parsed, and such messages are not to be skipped.
            SchemaError: It makes a table that is refused: too many columns, another primary key.
        """
        try:
            observation = self._reader.read(payload)
        except MalformedMessageError as error:
            self._skip(position, str(error), payload or b"")
            return
        if observation is None:
            self._silent += 1
        else:
            self._observe(observation, position)

    def result(self) -> Inferred:
        """The tables as they are now."""
        tables = {name: table.result() for name, table in self._tables.items()}
        return Inferred(tables, self._silent, tuple(self._skipped))

    def _observe(self, observation: Observation, position: Position) -> None:
        table = self._tables.get(observation.table)
        if table is None:
            table = TableInference(observation.table, self._reader.fixed, self._options.max_columns)
            self._tables[observation.table] = table
        try:
            table.add(observation, position)
        except SchemaError as error:
            raise SchemaError(f"topic {self._topic!r}: {error}") from None

    def _skip(self, position: Position, reason: str, payload: bytes) -> None:
        if not self._reader.options.ignore_parse_errors:
            raise MessageError(
                f"malformed message in topic {self._topic!r}, {position}: {reason}. It begins with "
                f"{payload[:_SHOWN_BYTES]!r}. Set {self._reader.format}.ignore-parse-errors to true to infer the "
                f"schema without such messages"
            )
        self._skipped.append(Skipped(position, reason))
