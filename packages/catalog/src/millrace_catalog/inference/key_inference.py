"""Inferring the columns of keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import InferenceOptions, JsonInferenceOptions
from millrace_catalog.inference.result import Evidence, InferredColumn
from millrace_catalog.inference.table_inference import TableInference
from millrace_catalog.types import BYTES


@dataclass(frozen=True)
class InferredKey:
    """What keys hold.

    Attributes:
        columns: Their columns, without ``key.fields-prefix``; none when no message has a key. Keys of which one is no
            JSON object are one column of BYTES.
        reason: Why they are one column, else empty.
    """

    columns: tuple[InferredColumn, ...] = ()
    reason: str = ""

    @property
    def is_json(self) -> bool:
        """Whether all keys that there are are JSON objects."""
        return not self.reason


class KeyInference:
    """Takes in the keys of messages, and tells what columns they have.

    Args:
        topic: The topic, for errors.
        json: How keys that are JSON are read; they name no table.
        options: What does not depend on the format.
    """

    def __init__(
        self, topic: str, json: JsonInferenceOptions | None = None, options: InferenceOptions | None = None
    ) -> None:
        self._options = options or InferenceOptions()
        self._reader = JsonReader(topic, replace(json or JsonInferenceOptions(), table_fields=()))
        self._table = TableInference(f"{topic} (keys)", self._reader.fixed, self._options.max_columns)
        self._bytes: InferredKey | None = None

    def add(self, position: Position, key: bytes | None) -> None:
        """Take in the key of a message; None or no bytes when it has none.

        Raises:
            SchemaError: Keys have too many columns.
        """
        if not key or self._bytes is not None:
            return
        try:
            observation = self._read(key)
        except MalformedMessageError as error:
            column = InferredColumn(self._options.key_field, BYTES, (Evidence(BYTES, position),), ((),))
            self._bytes = InferredKey((column,), f"the key in {position}: {error}")
        else:
            self._table.add(observation, position)

    def result(self) -> InferredKey:
        """The columns as they are now."""
        return self._bytes or InferredKey(self._table.result().columns)

    def _read(self, key: bytes) -> Observation:
        observation = self._reader.read(key)
        if observation is None:
            raise MalformedMessageError("blank or null")
        return observation
