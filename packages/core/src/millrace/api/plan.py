"""Plan a job before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.configuration.build import configure_sink, configure_source
from millrace.plans.model import JobPlan
from millrace.plans.read import COUNTED_OFFSETS, ReadRequest, plan_read
from millrace.plans.write import plan_write
from millrace.spark.ddl import parse_ddl
from millrace.spark.options import connector_options

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType


def plan(
    options: Mapping[str, str],
    *,
    schema: StructType | str | None = None,
    streaming: bool = False,
    available_now: bool = False,
    checkpoint: str | None = None,
    writes: bool = False,
    count_limit: int = COUNTED_OFFSETS,
    origins: Mapping[str, str] | None = None,
    filters: Sequence[Filter] = (),
) -> JobPlan:
    """Return what a read or a write with these options would do, like ``millrace plan``.

    The same code plans offsets and tasks as in a real query. Nothing is written, created or committed, and no consumer
    group is joined. If there are at most ``count_limit`` offsets, they are read and decoded to count messages and rows;
    otherwise the plan contains upper bounds.

    Args:
        options: The options of the query.
        schema: The columns, as for ``.schema(...)``.
        streaming: Whether it is a stream, whose next micro-batch is planned; by default a batch.
        available_now: Whether the stream has the trigger ``availableNow``; implies ``streaming``.
        checkpoint: The checkpoint from which the stream continues; implies ``streaming``.
        writes: Whether to plan a write; by default a read.
        count_limit: The largest number of offsets to read in order to count messages and rows; 0 reads none.
        origins: Where each option comes from, shown in the plan; by default from ``options``.
        filters: The filters that Spark would push to a batch read with ``scan.filter-pushdown``, such as
            ``pyspark.sql.datasource.EqualTo(("partition",), 1)``.

    Returns:
        The plan. Its problems include everything that would end a run.

    Raises:
        OptionsError: An option is wrong or unknown.
        SchemaError: The schema is no list of columns.
        UnreachableError: No broker answered.
    """
    own_options = connector_options(options)
    places = origins or {}
    if writes:
        return plan_write(own_options, configure_sink(own_options), origins=places)
    request = ReadRequest(
        own_options,
        schema=parse_ddl(schema) if isinstance(schema, str) else schema,
        streaming=streaming or available_now or checkpoint is not None,
        available_now=available_now,
        checkpoint=checkpoint or "",
        count_limit=count_limit,
        origins=places,
        filters=filters,
    )
    return plan_read(request, configure_source(own_options))
