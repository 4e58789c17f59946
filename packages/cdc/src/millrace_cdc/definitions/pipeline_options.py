"""Options of a whole pipeline: the section ``pipeline`` of its file."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from millrace.options import option
from millrace_cdc.definitions.dirty_data import parse_collector

SchemaChangeBehavior = Literal["exception", "evolve", "try_evolve", "lenient", "ignore"]
RouteMode = Literal["ALL_MATCH", "FIRST_MATCH"]

UNSUPPORTED = {
    "model": "its models are classes of Java",
    "flink-conf": "Spark has no settings of Flink: give Spark's when its session starts",
    "operator.uid.prefix": "Spark's queries have no ids of operators: leave it out",
    "schema.operator.uid": "Spark's queries have no ids of operators: leave it out",
    "schema-operator.rpc-timeout": "schema changes are applied by the driver itself: leave it out",
}
"""Keys of the reference's that mean nothing on Spark, with what to do."""


def parse_time_zone(text: str) -> str:
    """Check the name of a time zone.

    Raises:
        ValueError: It is unknown.
    """
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("expected the name of a time zone, such as Europe/Berlin") from error
    return text


@dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """Options of a whole pipeline."""

    name: str | None = option("name", default=None, doc="The name of the pipeline.")
    parallelism: Annotated[int, Ge(1)] | None = option(
        "parallelism", default=None, doc="The number of tasks of a shuffle. By default that of Spark's session."
    )
    time_zone: str | None = option(
        "local-time-zone",
        default=None,
        parse=parse_time_zone,
        doc="The time zone of functions of time in transforms. By default that of Spark's session.",
    )
    runtime_mode: Literal["STREAMING", "BATCH"] = option(
        "execution.runtime-mode",
        default="STREAMING",
        doc="STREAMING runs until it is stopped; BATCH ends when the changes that exist at the start are written.",
    )
    schema_change_behavior: SchemaChangeBehavior = option(
        "schema.change.behavior",
        default="lenient",
        doc="A schema change: exception ends the pipeline; evolve applies it or fails; try_evolve continues if the "
        "sink cannot apply it; lenient changes it so that no column or row is lost; ignore applies none.",
    )
    table_failure_behavior: Literal["fail", "pause"] = option(
        "table.failure.behavior",
        default="fail",
        doc="What happens when a table's columns cannot change as its messages require: fail ends the pipeline; pause "
        "continues without the table, and collects its messages as dirty data. (Addition.)",
    )
    route_mode: RouteMode = option(
        "route-mode",
        default="ALL_MATCH",
        doc="Whether a table takes all routes that match it (ALL_MATCH), or the first one (FIRST_MATCH).",
    )
    dirty_collector: str | None = option(
        "dirty-data.collector.type",
        default=None,
        aliases=("dirty-data.collector",),
        parse=parse_collector,
        doc="The destination of messages that ingestion.ignore-errors skips: logger; topic, also called kafka; table, "
        "a table of the sink; or any other dead letter collector.",
    )
    dirty_collector_options: tuple[tuple[str, str], ...] = option(
        "dirty-data.collector.*", default=(), is_hidden=True, doc="Options of the collector."
    )
