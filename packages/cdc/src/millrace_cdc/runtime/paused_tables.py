"""Paused tables: their messages go to the collector. `schema_evolution` and `table_failures` decide to pause one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as fn

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError, OptionsError
from millrace_cdc.runtime.dead_letters import DeadLetters, paused_letter
from millrace_cdc.runtime.message_rows import ChangeReader
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.task_reports import Place, TaskFindings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace.plugins.manager import PluginRef

BY_HAND = "by hand"
"""The reason of a table that a user has paused."""


@dataclass(frozen=True)
class PauseRequest:
    """The wishes of a user at the start of a pipeline.

    Attributes:
        pause: The ids of tables to pause.
        resume: The ids of paused tables that go on.
    """

    pause: frozenset[str] = field(default_factory=frozenset)
    resume: frozenset[str] = field(default_factory=frozenset)

    def apply(self, state: SchemaState) -> SchemaState:
        """Return a state with these tables paused, and those going on."""
        still_paused = {name: reason for name, reason in state.paused.items() if name not in self.resume}
        paused = still_paused | {name: still_paused.get(name, BY_HAND) for name in sorted(self.pause)}
        return replace(state, paused=paused)


NO_REQUEST = PauseRequest()


def without_paused(report: TaskFindings, paused: Mapping[str, str]) -> TaskFindings:
    """Return a report without the tables that are paused."""
    return replace(report, tables={name: table for name, table in report.tables.items() if name not in paused})


def without_tables(changes: DataFrame, tables: Iterable[str]) -> DataFrame:
    """Return the changes of all but some tables."""
    names = list(tables)
    return changes.where(~fn.col("table").isin(names)) if names else changes


def check_pausing(collector: PluginRef | None) -> None:
    """Refuse to pause tables without a collector that keeps their messages.

    Raises:
        OptionsError: There is none, or one that writes to no topic.
    """
    if collector is None or not collector.create().topics:
        raise OptionsError(
            "pipeline",
            (
                "a table can be paused only where its messages are kept: set 'dirty-data.collector' to topic, and "
                "'dirty-data.collector.topic' to a topic of the source's cluster",
            ),
        )


def collect_tables(messages: DataFrame, settings: ParserSettings, paused: Mapping[str, str]) -> Counter[str]:
    """Hand all messages of some tables to the collector, in one job; return their numbers.

    Args:
        messages: The messages of a micro-batch, in which these tables were not paused before.
        settings: Settings of their parser.
        paused: The reasons, by table.
    """
    rows = messages.select(*settings.source_columns).mapInArrow(_stage(settings, paused), "table STRING, messages INT")
    numbers: Counter[str] = Counter()
    for row in rows.collect():
        numbers[row.table] += row.messages
    return numbers


def _stage(
    settings: ParserSettings, paused: Mapping[str, str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def collect(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        assert settings.collector is not None  # noqa: S101
        letters = DeadLetters(settings.collector, settings.client)
        numbers: Counter[str] = Counter()
        for batch in batches:
            for index, table, place, key, value in _messages_of(batch, settings, paused):
                letters.add(paused_letter(table, paused, place, key, value, settings.format), batch, index)
                numbers[table] += 1
            letters.collect()
        letters.finish()
        columns = [pa.array(list(numbers), pa.string()), pa.array(list(numbers.values()), pa.int32())]
        yield pa.record_batch(columns, ["table", "messages"])

    return collect


def _messages_of(
    batch: pa.RecordBatch, settings: ParserSettings, tables: Mapping[str, str]
) -> Iterator[tuple[int, str, Place, bytes | None, bytes | None]]:
    readers: dict[str, ChangeReader] = {}
    rows = settings.message_rows(Counter())
    schemas = settings.schemas_of(batch)
    columns = (batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "key", "value"))
    for index, (topic, partition, offset, key, value) in enumerate(zip(*columns, strict=True)):
        reader = readers.get(topic) or readers.setdefault(topic, settings.reader(topic))
        try:
            parsed = rows.parse(reader, value, schemas[index].value if schemas else b"")
        except MalformedMessageError:
            # The parser has seen to it
            continue
        for row, change in parsed:
            if not isinstance(change, SkipReason) and change.table in tables:
                yield index, change.table, Place(topic, partition, offset), key, row
