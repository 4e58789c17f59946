"""Inference of the columns of message keys."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_reader import JsonKeyReader
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import InferenceOptions, JsonInferenceOptions
from millrace_catalog.inference.result import Evidence, InferredColumn
from millrace_catalog.inference.table_inference import TableInference
from millrace_catalog.types import BYTES


@dataclass(frozen=True)
class InferredKey:
    """The columns of keys.

    Attributes:
        columns: Columns without ``key.fields-prefix``; none when no message has a key. If any key is not a JSON object,
            keys are a single column of BYTES.
        reason: Why keys are a single column, else empty.
    """

    columns: tuple[InferredColumn, ...] = ()
    reason: str = ""

    @property
    def is_json(self) -> bool:
        """Return whether all keys are JSON objects."""
        return not self.reason


class KeyInference:
    """Infer the columns of keys, message by message.

    Args:
        topic: Name of the topic, for errors.
        json: Options of keys that are JSON; keys name no table.
        options: Options that do not depend on the format.
    """

    def __init__(
        self, topic: str, json: JsonInferenceOptions | None = None, options: InferenceOptions | None = None
    ) -> None:
        self._options = options or InferenceOptions()
        self._reader = JsonKeyReader(topic, json)
        self._table = TableInference(f"{topic} (keys)", self._reader.fixed, self._options.max_columns)
        self._bytes: InferredKey | None = None

    def add(self, position: Position, key: bytes | None) -> None:
        """Add the key of a message; None or empty when it has none.

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
        """Return the columns inferred so far."""
        return self._bytes or InferredKey(self._table.result().columns)

    def _read(self, key: bytes) -> Observation:
        observation = self._reader.read(key)
        if observation is None:
            raise MalformedMessageError("blank or null")
        return observation
