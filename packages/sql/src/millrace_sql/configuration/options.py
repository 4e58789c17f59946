"""The keys of SET, with the reference's names; additions are marked as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from millrace.options import option
from millrace.options.values import parse_duration_ms


def _parse_interval(text: str) -> int:
    milliseconds = parse_duration_ms(text)
    if milliseconds <= 0:
        raise ValueError("expected a duration above 0, such as '10 s'")
    return milliseconds


def _lower(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text.lower()

    return parse


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """Settings that a table environment takes only when it is created."""

    store_kind: Literal["generic_in_memory", "file"] = option(
        "table.catalog-store.kind",
        default="generic_in_memory",
        doc="Where catalogs, databases, tables and views are kept that are not temporary: in memory, or in files.",
    )
    store_path: str | None = option(
        "table.catalog-store.file.path",
        default=None,
        doc="Folder of the kept definitions, as a path or URI; requires table.catalog-store.kind = file.",
    )
    catalog: str = option(
        "table.builtin-catalog-name", default="default_catalog", doc="Name of the catalog that is there at the start."
    )
    database: str = option("table.builtin-database-name", default="default_database", doc="Name of the database in it.")

    def __post_init__(self) -> None:
        if (self.store_kind == "file") != (self.store_path is not None):
            raise ValueError("'table.catalog-store.kind' = 'file' and 'table.catalog-store.file.path' go together")


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """Settings of a table environment that SET changes; they are for the statements after it."""

    runtime_mode: Literal["streaming", "batch"] = option(
        "execution.runtime-mode",
        default="streaming",
        parse=_lower("streaming", "batch"),
        doc="Whether queries run as streams or as batches.",
    )
    checkpoint_dir: str | None = option(
        "execution.checkpointing.dir",
        default=None,
        aliases=("execution.checkpointing.directory",),
        deprecated=("state.checkpoints.dir",),
        doc="Folder of the checkpoints of streams, as a path or URI: each INSERT has a folder of its own in it, from "
        "which it continues when the statement runs again. Without it, an INSERT starts from scratch.",
    )
    checkpoint_interval_ms: int | None = option(
        "execution.checkpointing.interval",
        default=None,
        parse=_parse_interval,
        doc="Time from the start of one micro-batch of a stream to that of the next; without it, each micro-batch "
        "starts when the one before it has ended.",
    )
    pipeline_name: str | None = option(
        "pipeline.name",
        default=None,
        doc="Name of the queries that are started next, and of their checkpoint folder: with a name, a query that was "
        "edited continues from the checkpoint of the previous one.",
    )
    parallelism: Annotated[int, Ge(1)] | None = option(
        "parallelism.default",
        default=None,
        deprecated=("table.exec.resource.default-parallelism",),
        doc="Tasks of a shuffle (spark.sql.shuffle.partitions). A stream keeps the number of its first start.",
    )
    idle_timeout_ms: int = option(
        "table.exec.source.idle-timeout",
        default=0,
        parse=parse_duration_ms,
        doc="Time after which a partition without messages no longer holds the others back, in tables that set "
        "scan.watermark.alignment.max-drift; with 0 that of the table. In other tables a partition never does.",
    )
    cdc_events_duplicate: bool = option(
        "table.exec.source.cdc-events-duplicate",
        default=False,
        doc="Whether change logs may repeat events. Tables read with a format of changes then need a PRIMARY KEY, by "
        "which streams drop what is repeated, and take old rows from state.",
    )
    time_zone: str | None = option(
        "table.local-time-zone",
        default=None,
        doc="Time zone in which a TIMESTAMP_LTZ is shown and cast (spark.sql.session.timeZone).",
    )
    dialect: Literal["default", "spark"] = option(
        "table.sql-dialect",
        default="default",
        parse=_lower("default", "spark"),
        doc="Whether an expression that means something else in Flink and in Spark means what it means in Flink "
        "(default), or in Spark (spark).",
    )
    dml_sync: bool = option(
        "table.dml-sync", default=False, doc="Whether INSERT returns only when its query has ended."
    )
    not_null_enforcer: Literal["error", "drop"] = option(
        "table.exec.sink.not-null-enforcer",
        default="error",
        parse=_lower("error", "drop"),
        doc="Whether a NULL for a NOT NULL column fails the INSERT, or its row is dropped.",
    )
    column_width: Annotated[int, Ge(3)] = option(
        "table.display.max-column-width",
        default=30,
        deprecated=("sql-client.display.max-column-width",),
        doc="Width of a column of text where a result is printed; longer values are cut.",
    )
