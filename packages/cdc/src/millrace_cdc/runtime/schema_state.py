"""The schemas of all tables of a pipeline, and their text form for the checkpoint.

A pipeline knows the tables of its source, as messages have them, and those of its sink, as routes and transforms make
them of the former. Both change only forwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from millrace.errors import StateError
from millrace_catalog.evolution import SchemaChange, SchemaTracker, TableCreation
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import Place

Strategy = Literal["continuous", "static"]
_VERSION, _VERSION_WITH_PAUSED = 1, 2
"""An older millrace would go on with the tables that are paused."""


@dataclass
class SchemaState:
    """The schemas of a pipeline's tables after a micro-batch.

    Attributes:
        sources: The tables of the source, by id.
        sinks: The tables of the sink, by id.
        applied: By id of a sink's table, the number of the last change before the micro-batch.
        malformed: The number of malformed messages that were skipped since the pipeline's start.
        paused: By id of a source's table that is paused, the reason.
        unapplied: The ids of the sink's tables whose changes the sink could not apply; they wait until the source's
            tables go on.
        rules: The digest of the rules by which the sink's tables were derived; empty where it is not known.
        truncations: By id of a source's table, the place of the last message that deletes all of its rows: of this
            micro-batch, or of an earlier one for tables that have no columns yet.
        truncated: The ids of the source's tables whose truncations have emptied tables of the sink.
        partitions: By id of a source's table, the topics and partitions of its messages, where truncations are applied.
    """

    sources: dict[str, SchemaTracker] = field(default_factory=dict)
    sinks: dict[str, SchemaTracker] = field(default_factory=dict)
    applied: dict[str, int] = field(default_factory=dict)
    malformed: int = 0
    paused: dict[str, str] = field(default_factory=dict)
    unapplied: frozenset[str] = frozenset()
    rules: str = ""
    truncations: dict[str, Place] = field(default_factory=dict)
    truncated: frozenset[str] = frozenset()
    partitions: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def changes(self) -> tuple[SchemaChange, ...]:
        """Return the changes of the sink's tables that this micro-batch brings, those of each table in order."""
        changes_by_table: Iterable[tuple[SchemaChange, ...]] = (
            tracker.changes(self.applied.get(name, 0))
            for name, tracker in self.sinks.items()
            if name not in self.unapplied
        )
        return tuple(change for changes in changes_by_table for change in changes)

    def next_batch(self) -> SchemaState:
        """Return the state before the next micro-batch: all changes are applied, but those that wait."""
        applied = {
            name: self.applied.get(name, 0) if name in self.unapplied else tracker.version
            for name, tracker in self.sinks.items()
        }
        waiting = {table: place for table, place in self.truncations.items() if table not in self.sources}
        return replace(self, applied=applied, truncations=waiting)

    def to_text(self) -> str:
        """Write the state as text, for `from_text`."""
        content = {
            "v": _VERSION_WITH_PAUSED if self.paused else _VERSION,
            "sources": [tracker.state() for tracker in self.sources.values()],
            "sinks": [tracker.state() for tracker in self.sinks.values()],
            "applied": self.applied,
            "malformed": self.malformed,
            **({"paused": self.paused} if self.paused else {}),
            **({"unapplied": sorted(self.unapplied)} if self.unapplied else {}),
            **({"rules": self.rules} if self.rules else {}),
            **({"truncations": self.truncations} if self.truncations else {}),
            **({"truncated": sorted(self.truncated)} if self.truncated else {}),
            **({"partitions": _sorted_values(self.partitions)} if self.partitions else {}),
        }
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str, max_columns: int, strategy: Strategy = "continuous") -> SchemaState:
        """Read the text of `to_text`.

        Raises:
            StateError: It is another text, or that of a newer version.
        """
        try:
            content = json.loads(text)
            if content["v"] not in (_VERSION, _VERSION_WITH_PAUSED):
                raise StateError(
                    f"the schemas in the pipeline's checkpoint have version {content['v']}, and this millrace reads "
                    f"versions {_VERSION} and {_VERSION_WITH_PAUSED}: run the pipeline with the millrace that wrote "
                    f"it, or a newer one"
                )
            sources = [SchemaTracker.restore(state, strategy, max_columns) for state in content["sources"]]
            sinks = [SchemaTracker.restore(state, "continuous", max_columns) for state in content["sinks"]]
            return cls(
                _by_table(sources),
                _by_table(sinks),
                content["applied"],
                content["malformed"],
                content.get("paused", {}),
                frozenset(content.get("unapplied", ())),
                content.get("rules", ""),
                {table: Place(*place) for table, place in content.get("truncations", {}).items()},
                frozenset(content.get("truncated", ())),
                {table: frozenset(map(tuple, pairs)) for table, pairs in content.get("partitions", {}).items()},
            )
        except (ValueError, KeyError, TypeError) as error:
            raise StateError(
                f"the schemas in the pipeline's checkpoint cannot be read: {type(error).__name__}: {error}"
            ) from error


def _sorted_values(partitions: Mapping[str, frozenset[tuple[str, int]]]) -> dict[str, list[tuple[str, int]]]:
    return {table: sorted(pairs) for table, pairs in partitions.items()}


def _by_table(trackers: Iterable[SchemaTracker]) -> dict[str, SchemaTracker]:
    return {tracker.table: tracker for tracker in trackers}


class TableSchemas:
    """The schemas of a state's tables for executors; each is formatted again only when it has changed."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[SchemaTracker, int, SourceTableSchema]] = {}

    def of(
        self, trackers: Mapping[str, SchemaTracker], names: Iterable[str] | None = None
    ) -> dict[str, SourceTableSchema]:
        """Return some of the tables, by default all."""
        return {name: self._table(name, trackers[name]) for name in (trackers if names is None else names)}

    def _table(self, name: str, tracker: SchemaTracker) -> SourceTableSchema:
        cached = self._cache.get(name)
        if cached is None or cached[0] is not tracker or cached[1] != tracker.version:
            cached = (
                tracker,
                tracker.version,
                SourceTableSchema(str(tracker.schema), tracker.primary_key, _declared(tracker)),
            )
            self._cache[name] = cached
        return cached[2]


def _declared(tracker: SchemaTracker) -> tuple[str, ...]:
    """Return the names of the columns that a table has had before its first message."""
    created = tracker.changes()[:1]
    return tuple(
        column.name
        for change in created
        if isinstance(change, TableCreation) and change.cause is None
        for column in change.columns
    )
