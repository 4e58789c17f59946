"""A topic's table whose columns follow the keys and values of its messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from millrace.contracts import SampledMessage
from millrace.errors import MalformedMessageError, SchemaError
from millrace_catalog.evolution.changes import SchemaChange
from millrace_catalog.evolution.layout import Layout
from millrace_catalog.evolution.tracker import SchemaTracker
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.tables.table_schema import check_key_names
from millrace_catalog.types import BYTES, NULL, Column, DataType, Schema, with_nullability
from millrace_catalog.types.names import quoted

_VERSION = 1
_BYTES = with_nullability(BYTES, False)


class EvolvingTable:
    """Follows the schema of a table, of which it knows which columns keys have and which ones values have.

    Args:
        layout: What does not change.
        tracker: The table's changes so far.
        keys: The columns of keys.
        key_is_json: Whether keys are read as JSON, else as bytes.
    """

    def __init__(self, layout: Layout, tracker: SchemaTracker, keys: tuple[str, ...], *, key_is_json: bool) -> None:
        self._layout = layout
        self._tracker = tracker
        self._reader = JsonReader(layout.topic, replace(layout.json, table_fields=()))
        self.keys = keys
        self.key_is_json = key_is_json
        self._is_open = not keys
        self._met: set[bool] = set()

    @classmethod
    def create(
        cls, layout: Layout, schema: Schema, primary_key: tuple[str, ...], keys: tuple[str, ...], *, key_is_json: bool
    ) -> EvolvingTable:
        """A table with columns that are known already; raises as `SchemaTracker.create`."""
        tracker = SchemaTracker(layout.topic, _strategy(layout), layout.max_columns)
        tracker.create(schema, primary_key)
        return cls(layout, tracker, keys, key_is_json=key_is_json)

    @classmethod
    def restore(cls, layout: Layout, state: str) -> EvolvingTable:
        """A table that goes on from what `state` told.

        Raises:
            SchemaError: The state cannot be read, or is of another table.
        """
        try:
            found = json.loads(state)
            version, keys, key_is_json, changes = (found[name] for name in ("v", "keys", "key_is_json", "changes"))
        except (ValueError, KeyError, TypeError) as error:
            raise SchemaError(f"the state of a table cannot be read: {type(error).__name__}: {error}") from error
        if version != _VERSION:
            raise SchemaError(f"the state of a table has version {version}, this millrace knows {_VERSION}")
        tracker = SchemaTracker.restore(json.dumps(changes), _strategy(layout), layout.max_columns)
        if tracker.table != layout.topic:
            raise SchemaError(
                f"the state beside the checkpoint is of table {tracker.table!r}, not of {layout.topic!r}; each query "
                f"needs a checkpoint location of its own"
            )
        return cls(layout, tracker, tuple(keys), key_is_json=key_is_json)

    def state(self) -> str:
        """All that there is to be kept, for `restore`."""
        changes = json.loads(self._tracker.state())
        found = {"v": _VERSION, "keys": list(self.keys), "key_is_json": self.key_is_json, "changes": changes}
        return json.dumps(found, separators=(",", ":"))

    def copy(self) -> EvolvingTable:
        """The same, to be changed by itself."""
        return self.restore(self._layout, self.state())

    @property
    def schema(self) -> Schema:
        """All columns."""
        return self._tracker.schema

    @property
    def version(self) -> int:
        """The number of the last change."""
        return self._tracker.version

    def changes(self, after: int = 0) -> tuple[SchemaChange, ...]:
        """The changes with higher numbers than ``after``."""
        return self._tracker.changes(after)

    def key_fields(self) -> Schema:
        """The columns of keys by their fields' names."""
        return self._fields(self._layout.key_prefix, self.keys)

    def value_fields(self) -> Schema:
        """The columns of values by their fields' names."""
        others = {*self.keys, *self._layout.metadata}
        return self._fields(self._layout.value_prefix, [name for name in self.schema.names if name not in others])

    def take(self, messages: Iterable[SampledMessage]) -> tuple[SchemaChange, ...]:
        """Make the table hold messages.

        Keys that appear for the first time are JSON if all of these keys are.

        Args:
            messages: The messages, by partition and offset.

        Returns:
            The changes that this needs, in order.

        Raises:
            SchemaError: A message needs what is refused.
        """
        shown, before = list(messages), self.version
        if not self.keys:
            self.key_is_json = all(self._is_object(each.key) for each in shown if each.key)
        for each in shown:
            self.observe(each)
        return self.changes(before)

    def observe(self, message: SampledMessage) -> bool:
        """Make the table hold a message; whether that took changes.

        Raises:
            SchemaError: It needs what is refused.
        """
        before = self.version
        keys = self._new_or_own(self._of_key(message.key), self.keys, message)
        new = tuple(name for name in keys if name not in self.keys)
        check_key_names(self._layout.topic, new)
        values = self._new_or_own(self._of_value(message.value), self._value_columns(), message, new)
        observation = Observation(self._layout.topic, keys | values, self._primary_key(new))
        self._tracker.observe(observation, Position(message.partition, message.offset))
        if new:
            self.keys = (*self.keys, *(name for name in new if name in self.schema.types))
        return self.version > before

    def matters(self, message: SampledMessage) -> bool:
        """Observe a message; whether the table might become another one without it.

        Where it takes no changes now, those that have been taken for earlier messages hold it, or nothing is needed.
        """
        decides = self._may_decide(message.key)
        try:
            return self.observe(message) or decides
        except SchemaError:
            return True

    def _fields(self, prefix: str, names: Iterable[str]) -> Schema:
        types = self.schema.types
        return Schema(tuple(Column(name.removeprefix(prefix), types[name]) for name in names))

    def _value_columns(self) -> set[str]:
        return set(self.schema.names) - {*self.keys, *self._layout.metadata}

    def _primary_key(self, new: tuple[str, ...]) -> tuple[str, ...] | None:
        return (*self.keys, *new) if self._layout.is_upsert and new else None

    def _of_value(self, value: bytes | None) -> dict[str, DataType]:
        try:
            said = self._reader.read(value)
        except MalformedMessageError:
            return {}  # what becomes of malformed messages is for the read to say
        return {} if said is None else self._named(self._layout.value_prefix, said.columns)

    def _of_key(self, key: bytes | None) -> dict[str, DataType]:
        if not key:
            return {}
        as_bytes = {self._layout.key_prefix + self._layout.key_field: _BYTES}
        if not self.key_is_json:
            return as_bytes
        try:
            said = self._reader.read(key)
        except MalformedMessageError:
            return {} if self.keys else as_bytes
        if said is None:
            return {} if self.keys else as_bytes
        return self._named(self._layout.key_prefix, said.columns)

    def _may_decide(self, key: bytes | None) -> bool:
        """Whether it may depend on this key how keys are read, which is open while there are none."""
        if not key or not self._is_open:
            return False
        is_object = self._is_object(key)
        is_first = is_object not in self._met
        self._met.add(is_object)
        return is_first

    def _is_object(self, key: bytes) -> bool:
        try:
            return self._reader.read(key) is not None
        except MalformedMessageError:
            return False

    @staticmethod
    def _named(prefix: str, columns: Mapping[str, DataType]) -> dict[str, DataType]:
        return {prefix + name: type_ for name, type_ in columns.items()} if prefix else dict(columns)

    def _new_or_own(
        self, columns: dict[str, DataType], own: Iterable[str], message: SampledMessage, beside: Iterable[str] = ()
    ) -> dict[str, DataType]:
        """The columns of a part that it has, and those that it needs; SchemaError if these are another part's."""
        known = set(own)
        others = {name.lower() for name in (*self.schema.names, *beside) if name not in known}
        needed = {}
        for name, type_ in columns.items():
            if name not in known:
                if type_ == NULL:
                    continue
                self._check_name(name, others, message)
            needed[name] = type_
        return needed

    def _check_name(self, name: str, others: set[str], message: SampledMessage) -> None:
        # Spark tells no names apart that differ by case only, unless it is told to
        if name.lower() in others:
            position = Position(message.partition, message.offset)
            raise SchemaError(
                f"topic {self._layout.topic!r}, {position}: the new column {quoted(name)} would have the name "
                f"of one that is not of the same part of messages; give option 'value.fields-prefix', such as "
                f"'value_', or another 'key.fields-prefix', and start anew"
            )


def _strategy(layout: Layout) -> Literal["continuous", "static"]:
    return "static" if layout.is_static else "continuous"
