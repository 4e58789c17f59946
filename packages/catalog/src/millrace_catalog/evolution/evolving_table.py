"""A topic's table whose columns follow the keys and values of its messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from millrace.contracts import SampledMessage
from millrace.errors import MalformedMessageError, SchemaError
from millrace.row_arrays import rows_in
from millrace_catalog.evolution.changes import SchemaChange
from millrace_catalog.evolution.tracker import SchemaTracker
from millrace_catalog.inference.json_reader import JsonKeyReader, JsonReader
from millrace_catalog.inference.observation import Observation, Position, widen_rows
from millrace_catalog.inference.options import JsonInferenceOptions
from millrace_catalog.tables.table_schema import check_key_names
from millrace_catalog.types import BYTES, NULL, Column, DataType, Schema, with_nullability
from millrace_catalog.types.identifiers import quote_name

_VERSION = 1
_BYTES = with_nullability(BYTES, False)


@dataclass(frozen=True)
class TableLayout:
    """The parts of a table's definition that never change; plain data that travels to executors.

    Attributes:
        topic: Topic, which is also the id of the table.
        json: Options by which keys and values are inferred.
        key_prefix: Prefix of the names of key columns.
        value_prefix: Prefix of the names of value columns.
        key_field: Name, without prefix, of the single column of keys that are not JSON objects.
        metadata: Names of the metadata columns.
        is_upsert: Whether the key columns are the primary key.
        max_columns: Maximum number of columns.
        is_static: Whether the table keeps its first columns.
    """

    topic: str
    json: JsonInferenceOptions
    key_prefix: str
    value_prefix: str
    key_field: str
    metadata: tuple[str, ...]
    is_upsert: bool
    max_columns: int
    is_static: bool = False

    @property
    def strategy(self) -> Literal["continuous", "static"]:
        """Strategy of the table's `SchemaTracker`."""
        return "static" if self.is_static else "continuous"


class EvolvingTable:
    """Track the schema of a table, divided into the columns of keys and those of values.

    Args:
        layout: Unchanging parts of the table's definition.
        tracker: Changes of the table so far.
        keys: Names of the key columns.
        key_is_json: Whether keys are read as JSON, else as bytes.
    """

    def __init__(
        self, layout: TableLayout, tracker: SchemaTracker, keys: tuple[str, ...], *, key_is_json: bool
    ) -> None:
        self._layout = layout
        self._tracker = tracker
        self._reader = JsonReader(layout.topic, replace(layout.json, table_fields=()))
        self._key_reader = JsonKeyReader(layout.topic, layout.json)
        self.keys = keys
        self.key_is_json = key_is_json
        self._key_type_is_open = not keys
        self._seen_key_types: set[bool] = set()

    @classmethod
    def create(
        cls,
        layout: TableLayout,
        schema: Schema,
        primary_key: tuple[str, ...],
        keys: tuple[str, ...],
        *,
        key_is_json: bool,
    ) -> EvolvingTable:
        """Create a table with given columns; raises as `SchemaTracker.create`."""
        tracker = SchemaTracker(layout.topic, layout.strategy, layout.max_columns)
        tracker.create(schema, primary_key)
        return cls(layout, tracker, keys, key_is_json=key_is_json)

    @classmethod
    def restore(cls, layout: TableLayout, state: str) -> EvolvingTable:
        """Restore a table from the text of `state`.

        Raises:
            SchemaError: The state is malformed, or of another table.
        """
        try:
            fields = json.loads(state)
            version, keys, key_is_json, changes = (fields[name] for name in ("v", "keys", "key_is_json", "changes"))
        except (ValueError, KeyError, TypeError) as error:
            raise SchemaError(f"the state of a table cannot be read: {type(error).__name__}: {error}") from error
        if version != _VERSION:
            raise SchemaError(f"the state of a table has version {version}, and this millrace reads version {_VERSION}")
        tracker = SchemaTracker.restore(json.dumps(changes), layout.strategy, layout.max_columns)
        if tracker.table != layout.topic:
            raise SchemaError(
                f"the state in the checkpoint is of table {tracker.table!r}, not of {layout.topic!r}; each query needs "
                f"a checkpoint location of its own"
            )
        return cls(layout, tracker, tuple(keys), key_is_json=key_is_json)

    def state(self) -> str:
        """Write the table's state as text, for `restore`."""
        changes = json.loads(self._tracker.state())
        fields = {"v": _VERSION, "keys": list(self.keys), "key_is_json": self.key_is_json, "changes": changes}
        return json.dumps(fields, separators=(",", ":"))

    def copy(self) -> EvolvingTable:
        """Copy the table, so that the copy can change independently."""
        return self.restore(self._layout, self.state())

    @property
    def schema(self) -> Schema:
        """Columns of the table."""
        return self._tracker.schema

    @property
    def version(self) -> int:
        """Number of the last change."""
        return self._tracker.version

    def changes(self, after: int = 0) -> tuple[SchemaChange, ...]:
        """Return the changes after number ``after``."""
        return self._tracker.changes(after)

    def key_fields(self) -> Schema:
        """Return the key columns, named as their fields, without prefix."""
        return self._fields(self._layout.key_prefix, self.keys)

    def value_fields(self) -> Schema:
        """Return the value columns, named as their fields, without prefix."""
        others = {*self.keys, *self._layout.metadata}
        return self._fields(self._layout.value_prefix, [name for name in self.schema.names if name not in others])

    def observe_all(self, messages: Iterable[SampledMessage]) -> tuple[SchemaChange, ...]:
        """Change the table so that it holds messages.

        The first keys of a table are JSON if all of these keys are.

        Args:
            messages: Messages ordered by partition and offset.

        Returns:
            The changes, in order.

        Raises:
            SchemaError: A message requires a change that is refused.
        """
        all_messages, before = list(messages), self.version
        if not self.keys:
            self.key_is_json = all(self._is_object(message.key) for message in all_messages if message.key)
        for message in all_messages:
            self.observe(message)
        return self.changes(before)

    def observe(self, message: SampledMessage) -> bool:
        """Change the table so that it holds a message; return whether it changed.

        Raises:
            SchemaError: The message requires a change that is refused.
        """
        before = self.version
        keys = self._required_columns(self._key_columns(message.key), self.keys, message)
        new_keys = tuple(name for name in keys if name not in self.keys)
        check_key_names(self._layout.topic, new_keys)
        own = set(self.schema.names) - {*self.keys, *self._layout.metadata}
        values = self._required_columns(self._value_columns(message.value), own, message, new_keys)
        observation = Observation(self._layout.topic, keys | values, self._primary_key(new_keys))
        self._tracker.observe(observation, Position(message.partition, message.offset))
        if new_keys:
            self.keys = (*self.keys, *(name for name in new_keys if name in self.schema.types))
        return self.version > before

    def is_relevant(self, message: SampledMessage) -> bool:
        """Observe a message; return whether the table might change differently without it.

        A message that changes nothing now is covered by the changes for earlier messages.
        """
        decides = self._may_decide_key_type(message.key)
        try:
            return self.observe(message) or decides
        except SchemaError:
            return True

    def _fields(self, prefix: str, names: Iterable[str]) -> Schema:
        types = self.schema.types
        return Schema(tuple(Column(name.removeprefix(prefix), types[name]) for name in names))

    def _primary_key(self, new_keys: tuple[str, ...]) -> tuple[str, ...] | None:
        return (*self.keys, *new_keys) if self._layout.is_upsert and new_keys else None

    def _value_columns(self, value: bytes | None) -> dict[str, DataType]:
        rows: list[dict[str, DataType]] = []
        for row in rows_in(value):
            with suppress(MalformedMessageError):  # the read decides how malformed messages are handled
                observation = self._reader.read(row)
                rows += [] if observation is None else [observation.columns]
        columns = rows[0] if len(rows) == 1 else widen_rows(rows)
        return self._with_prefix(self._layout.value_prefix, columns)

    def _key_columns(self, key: bytes | None) -> dict[str, DataType]:
        if not key:
            return {}
        as_bytes: dict[str, DataType] = {self._layout.key_prefix + self._layout.key_field: _BYTES}
        if not self.key_is_json:
            return as_bytes
        try:
            observation = self._key_reader.read(key)
        except MalformedMessageError:
            observation = None
        if observation is None:
            return {} if self.keys else as_bytes
        return self._with_prefix(self._layout.key_prefix, observation.columns)

    def _may_decide_key_type(self, key: bytes | None) -> bool:
        """Return whether this key may decide if keys are JSON or bytes, which is open until a message has a key."""
        if not key or not self._key_type_is_open:
            return False
        is_object = self._is_object(key)
        is_first = is_object not in self._seen_key_types
        self._seen_key_types.add(is_object)
        return is_first

    def _is_object(self, key: bytes) -> bool:
        try:
            return self._key_reader.read(key) is not None
        except MalformedMessageError:
            return False

    @staticmethod
    def _with_prefix(prefix: str, columns: Mapping[str, DataType]) -> dict[str, DataType]:
        return {prefix + name: type_ for name, type_ in columns.items()} if prefix else dict(columns)

    def _required_columns(
        self, columns: dict[str, DataType], own: Iterable[str], message: SampledMessage, new_keys: Iterable[str] = ()
    ) -> dict[str, DataType]:
        """Leave out new columns that are null; SchemaError if a new column has the name of another, case aside."""
        own_names = set(own)
        # By default Spark ignores case in column names
        taken = {name.lower(): name for name in (*self.schema.names, *new_keys)}
        required: dict[str, DataType] = {}
        for name, type_ in columns.items():
            if name not in own_names:
                if type_ == NULL:
                    continue
                other = taken.get(name.lower())
                if other is not None:
                    is_own = other in own_names or other in required
                    raise self._taken_name(name, other if is_own else None, message)
                taken[name.lower()] = name
            required[name] = type_
        return required

    def _taken_name(self, name: str, other: str | None, message: SampledMessage) -> SchemaError:
        """Make the error of a new column with the name of another of its part, or of one of another part."""
        place = f"topic {self._layout.topic!r}, {Position(message.partition, message.offset)}"
        if other is not None:
            return SchemaError(
                f"{place}: the new column {quote_name(name)} differs only in case from {quote_name(other)}, and Spark "
                f"takes them for the same: read the topic with a schema that names one of them"
            )
        return SchemaError(
            f"{place}: the new column {quote_name(name)} would have the name of a column of another part of messages; "
            f"give option 'value.fields-prefix', such as 'value_', or another 'key.fields-prefix', and use a new "
            f"checkpoint location"
        )
