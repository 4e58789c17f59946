"""Plan what statements would read and write, by the plans of their reads and writes; nothing is started."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import millrace
from millrace.contracts import ScanContext
from millrace.plans.model import JobPlan
from millrace.plans.parts import PlannedCreation, PlannedWrite
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.definitions.model import shown
from millrace_sql.execution.inserts import InsertRunner, PlannedInsert
from millrace_sql.execution.queries import QueryRunner
from millrace_sql.execution.tables import BoundTable
from millrace_sql.planner.model import Scan
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statements import Insert

if TYPE_CHECKING:
    from millrace_sql.execution.checkpoints import QueryPlace

_STATE_PLACE = "/tmp/millrace-sql"  # noqa: S108 - it is only named: a run has a folder of its own
_RESULT = "rows of the result are at most those that it reads, unless it joins: filters and limits are not planned"


class JobPlanner:
    """Plan the reads and writes of queries and INSERT statements.

    Args:
        configuration: The settings.
        queries: Plans queries.
        inserts: Plans INSERT statements.
    """

    def __init__(self, configuration: SessionConfiguration, queries: QueryRunner, inserts: InsertRunner) -> None:
        self._configuration = configuration
        self._queries = queries
        self._inserts = inserts

    def of_query(self, query: SqlText) -> JobPlan:
        """Plan a query, whose stream has no checkpoint to go on from."""
        plan = self._queries.plan(query)
        self._queries.check(plan, query)
        return self._reads(plan.scans, None)

    def of_insert(self, insert: Insert, *, is_one_of_many: bool = False) -> JobPlan:
        """Plan an INSERT."""
        planned = self._inserts.plan(insert)
        self._inserts.check(planned)
        place = None
        if self._configuration.is_streaming and self._inserts.places.keeps_checkpoints:
            place = self._inserts.places.of_insert(insert, planned.table, is_one_of_many=is_one_of_many)
        return self._reads(planned.plan.scans, place) + self._write(planned)

    def of_table(self, name: Identifier, connector: str) -> JobPlan:
        """Plan the definition of a table."""
        return JobPlan(creates=(PlannedCreation("table", shown(name), f"a definition, of connector {connector!r}"),))

    def _reads(self, scans: Sequence[Scan], place: QueryPlace | None) -> JobPlan:
        plan = JobPlan(notes=(_RESULT,) if scans else ())
        for number, scan in enumerate(scans):
            plan += self._read(number, scan, place)
        return plan

    def _read(self, number: int, scan: Scan, place: QueryPlace | None) -> JobPlan:
        name, origin = shown(scan.table.identifier), scan.table.origin
        streaming = self._configuration.is_streaming and not scan.is_lookup
        if not isinstance(origin, BoundTable):
            return JobPlan(notes=(f"{name} is a DataFrame, which is not planned",))
        state = _STATE_PLACE if place is None else place.state_location(number, scan.table.identifier)
        context = ScanContext(
            streaming=streaming,
            needs_update_before=scan.needs_update_before,
            state_location=state if streaming else None,
        )
        read = origin.source.planned_read(context)
        if read is None:
            return JobPlan(notes=(f"{name}: its connector reads without Kafka, which is not planned",))
        job_plan = millrace.plan(
            read.options,
            schema=read.schema,
            streaming=streaming,
            available_now=streaming and scan.table.is_bounded,
            checkpoint=place.checkpoint if place is not None and streaming else None,
        )
        reads = (dataclasses.replace(job_read, name=f"{job_read.name} (table {name})") for job_read in job_plan.reads)
        return dataclasses.replace(job_plan, reads=tuple(reads))

    def _write(self, planned: PlannedInsert) -> JobPlan:
        name = shown(planned.table)
        options = planned.sink.planned_write()
        if options is None:
            return JobPlan(writes=(PlannedWrite(f"table {name}", "as of its connector"),))
        job_plan = millrace.plan(options, writes=True)
        writes = (
            dataclasses.replace(job_write, name=f"{job_write.name} (table {name})") for job_write in job_plan.writes
        )
        return dataclasses.replace(job_plan, writes=tuple(writes))
