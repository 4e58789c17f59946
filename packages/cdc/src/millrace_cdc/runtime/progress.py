"""The progress of a pipeline since its start."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from millrace.change_dialects import SkipReason
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.task_reports import TableReport, TaskFindings

logger = logging.getLogger("millrace.pipelines")


@dataclass
class TableProgress:
    """The progress of one of the source's tables since the start.

    Attributes:
        rows: The number of its changes.
        newest: The newest timestamp of its messages.
        version: The number of its schema changes.
    """

    rows: int = 0
    newest: datetime | None = None
    version: int = 0

    def add(self, report: TableReport) -> None:
        """Add the changes of a task."""
        self.rows += report.rows
        if report.newest is not None and (self.newest is None or report.newest > self.newest):
            self.newest = report.newest


@dataclass
class MicroBatchProgress:
    """The progress of the micro-batch that the sink writes.

    Attributes:
        batch: Its number.
        tables: The number of the sink's tables that it has rows for.
        written: The ids of the tables that have them already.
    """

    batch: int
    tables: int
    written: set[str] = field(default_factory=set)


@dataclass
class PipelineProgress:
    """The progress of a pipeline since its start.

    Attributes:
        tables: By id of a source's table.
        schema_changes: The number of schema changes that the sink got.
        malformed: The number of malformed messages that were skipped since the pipeline's first start.
        batches: The number of micro-batches with messages.
        paused: By id of a source's table that is paused, the reason.
        collected: By id of such a table, the number of its messages that went to the collector.
        skipped: The number of messages that were skipped for each reason, because they change nothing.
        writing: The micro-batch that the sink writes; None between micro-batches.
        sink_tables: The ids of the sink's tables that it has got rows for.
    """

    tables: dict[str, TableProgress] = field(default_factory=dict)
    schema_changes: int = 0
    malformed: int = 0
    batches: int = 0
    paused: dict[str, str] = field(default_factory=dict)
    collected: Counter[str] = field(default_factory=Counter)
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    writing: MicroBatchProgress | None = None
    sink_tables: set[str] = field(default_factory=set)

    def begin(self, batch: int, tables: int) -> MicroBatchProgress:
        """Begin to write a micro-batch, for the first time or again."""
        self.writing = MicroBatchProgress(batch, tables)
        return self.writing

    def count(self, state: SchemaState, reports: Sequence[TaskFindings], schema_changes: int) -> None:
        """Count a micro-batch that is written.

        Args:
            state: The state with which it has ended.
            reports: The reports of its tasks, without paused tables.
            schema_changes: The number of schema changes that the sink got with it.
        """
        self.writing = None
        self.malformed = state.malformed
        self.schema_changes += schema_changes
        self.batches += any(report.tables for report in reports)
        for report in reports:
            self.skipped.update(report.skipped)
            for name, table_report in report.tables.items():
                table = self.tables.setdefault(name, TableProgress())
                table.add(table_report)
                table.version = state.sources[name].version if name in state.sources else 0


class PartitionOrder:
    """Warn of tables in several partitions, between which the order of changes is not kept.

    Args:
        settings: Settings of the parser.
    """

    def __init__(self, settings: ParserSettings) -> None:
        self._settings = settings
        self._partitions: dict[str, set[tuple[str, int]]] = {}

    def check(self, reports: Sequence[TaskFindings]) -> None:
        """Warn of each table that is in a second partition for the first time."""
        for report in reports:
            for name, table_report in report.tables.items():
                self._check(name, table_report.partitions)

    def _check(self, table: str, partitions: set[tuple[str, int]]) -> None:
        seen = self._partitions.setdefault(table, set())
        is_new = len(seen) <= 1 < len(seen | partitions)
        seen |= partitions
        has_order = table != self._settings.malformed_table
        if is_new and has_order and not self._settings.has_distributed_tables:
            logger.warning(
                "table %r has changes in several partitions, between which their order is not kept: %s. If each row "
                "keeps its partition, set '%s.distributed-tables' to true",
                table,
                ", ".join(f"{topic}-{partition}" for topic, partition in sorted(seen)),
                self._settings.format,
            )
