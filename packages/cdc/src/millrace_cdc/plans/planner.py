"""Plan a pipeline: its tables, their targets, and what would end a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.contracts import (
    SCHEMA_CHANGES,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineTable,
    SchemaChangeType,
)
from millrace.errors import MachineError, MillraceError
from millrace.options.suggestions import closest
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.types import Schema
from millrace_cdc.connectors.values.lines import schema_change_line
from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.plans.checkpoint import find_start
from millrace_cdc.plans.model import (
    PipelinePlan,
    PlannedRule,
    PlannedSchemaChange,
    PlannedStart,
    PlannedTable,
    PlannedTableColumn,
    PlannedTarget,
)
from millrace_cdc.plans.sampling import SampleFindings, sample_tables
from millrace_cdc.routing.patterns import TableSelector
from millrace_cdc.routing.router import Route, Router
from millrace_cdc.runtime.execution import PipelineJob, pipeline_session
from millrace_cdc.runtime.message_keys import describe_keyless
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import EvolutionSettings, SinkDerivation
from millrace_cdc.runtime.sink_tables import pending_changes, pipeline_table
from millrace_cdc.runtime.state_store import StateStore
from millrace_cdc.runtime.task_reports import describe_skipped
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.table_id import table_id
from millrace_cdc.transforms.transform import BoundTransform, Transforms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOUND: tuple[SchemaChangeType, ...] = ("create.table", "add.column", "alter.column.type", "truncate.table")
"""The types of schema changes that messages bring."""


def plan_pipeline(
    job: PipelineJob,
    source: str,
    sink: str,
    session: Callable[[], SparkSession],
    checkpoint_location: str | None = None,
) -> PipelinePlan:
    """Plan a pipeline; nothing is changed.

    Args:
        job: The pipeline.
        source: The type of its source.
        sink: The type of its sink.
        session: Returns a session, and starts one where there is none; it is called only where Spark is needed.
        checkpoint_location: Location of the checkpoint that a run would have; None for a run without one.

    Raises:
        MillraceError: The source or the sink cannot be asked.
    """
    return _PipelinePlanning(job, session).plan(source, sink, checkpoint_location)


class _LazyTransforms:
    """Analysis of transforms, by a session that is started only when there is something to analyze."""

    def __init__(self, session: Callable[[], SparkSession], settings: Mapping[str, str]) -> None:
        self._session = session
        self._settings = settings
        self._transforms: RowTransforms | None = None

    def columns(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        if self._transforms is None:
            self._transforms = RowTransforms(pipeline_session(self._session(), self._settings))
        return self._transforms.columns(table, columns, transform)


@dataclass
class _PlanningProblems:
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, error: MillraceError) -> None:
        """Add the problems of an error; the same one of several tables is one."""
        if isinstance(error, PipelineError):
            self.problems += [
                Problem(problem.position, f"{error.name}: {problem.sentence}") for problem in error.problems
            ]
        else:
            self.problems.append(Problem(None, str(error)))


class _PipelinePlanning:
    def __init__(self, job: PipelineJob, session: Callable[[], SparkSession]) -> None:
        self._job = job
        self._session = session
        self._parser = job.source.parser_settings
        projector = _LazyTransforms(session, job.settings)
        self._planner = TablePlanner(
            Router(job.routes, job.route_mode),
            Transforms(job.transforms, job.functions),
            projector,
            job.malformed_table,
        )
        self._settings = job.evolution_settings
        self._evolution = SchemaEvolution(self._settings, self._planner)
        self._findings = _PlanningProblems()

    def plan(self, source: str, sink: str, checkpoint_location: str | None) -> PipelinePlan:
        start = None if checkpoint_location is None else find_start(self._session, checkpoint_location)
        derivation = self._evolution.derivation(SchemaState() if start is None else self._load_state(start))
        state = derivation.state
        if not state.sources:
            self._create_initial(state)
        if start is None:
            self._findings.problems += [Problem(None, sentence) for sentence in self._job.source.start_problems()]
        versions = {name: tracker.version for name, tracker in state.sources.items()}
        sample = sample_tables(self._job.source, state)
        self._note_messages(sample)
        changed = [name for name, tracker in state.sources.items() if tracker.version != versions.get(name)]
        self._derive(derivation, changed)
        tables = tuple(self._tables(state, sample))
        targets = tuple(self._targets(state))
        self._note_keyless(tables, targets, sample.updated)
        rules = tuple(self._rules(tables))
        self._find_unused(rules, [table.id for table in tables])
        self._find_missing_keys(rules, state)
        return PipelinePlan(
            self._job.name,
            source,
            sink,
            self._job.sink.capabilities.guarantee,
            start,
            tables,
            targets,
            rules,
            tuple(map(self._schema_change, SCHEMA_CHANGES)),
            tuple(self._findings.notes),
            tuple(dict.fromkeys(self._findings.problems)),
        )

    def _load_state(self, start: PlannedStart) -> SchemaState:
        """Return the state with which a run goes on: that of a micro-batch that is repeated, or of the one before."""
        store = StateStore(self._session(), start.location)
        states = PipelineStates(store, self._settings, self._planner)
        batch = 0 if start.batch is None else start.batch + 1
        return states.stored(batch) or states.before(batch)

    def _create_initial(self, state: SchemaState) -> None:
        for name, (schema, primary_key) in self._job.source.initial_schemas.items():
            tracker = state.sources[name] = SchemaTracker(name, self._parser.strategy, self._parser.max_columns)
            tracker.create(schema, primary_key)

    def _derive(self, derivation: SinkDerivation, changed: Iterable[str]) -> None:
        paused = derivation.state.paused
        self._findings.notes += [f"table {table!r} is paused: {reason}" for table, reason in sorted(paused.items())]
        for table in sorted({*changed, *derivation.outdated()} - paused.keys()):
            try:
                derivation.derive(table)
            except MillraceError as error:
                self._findings.add(error)
        self._findings.notes += derivation.notes

    def _note_messages(self, sample: SampleFindings) -> None:
        if self._job.source.sample_scope is not None:
            self._findings.notes.append(f"tables are looked for in {self._job.source.sample_scope}: more may exist")
        self._findings.problems += [Problem(None, sentence) for sentence in sample.problems]
        if sample.malformed:
            first = sample.malformed[0]
            if self._parser.skips_malformed:
                self._findings.notes.append(
                    f"{len(sample.malformed)} of the messages are malformed; the first: {first}"
                )
            else:
                self._findings.problems.append(Problem(None, first))
        if sample.skipped:
            self._findings.notes.append(f"messages that change nothing are skipped: {describe_skipped(sample.skipped)}")
        if self._parser.has_distributed_tables:
            return
        self._findings.notes += [
            f"table {table!r} has changes in several partitions, between which their order is not kept; if each row "
            f"keeps its partition, set '{self._parser.format}.distributed-tables' to true"
            for table, report in sorted(sample.tables.items())
            if len(report.partitions) > 1
        ]

    def _tables(self, state: SchemaState, sample: SampleFindings) -> Iterator[PlannedTable]:
        for name, tracker in sorted(state.sources.items()):
            evidence = sample.evidence[name]
            columns = tuple(
                PlannedTableColumn(column.name, str(column.type), evidence[column.name]) for column in tracker.schema
            )
            report = sample.tables.get(name)
            if report is not None and report.key_problem and not tracker.primary_key:
                self._findings.notes.append(describe_keyless(name, report.key_problem))
            try:
                targets = self._planner.targets(name)
            except MillraceError as error:
                self._findings.add(error)
                targets = ()
            yield PlannedTable(name, columns, tracker.primary_key, report.rows if report else 0, targets)

    def _targets(self, state: SchemaState) -> Iterator[PlannedTarget]:
        # Rules may have led elsewhere before
        targets = self._planner.targets_of(state.sources)
        tables = {
            name: pipeline_table(tracker.schema, tracker, self._planner)
            for name, tracker in sorted(state.sinks.items())
            if name in targets
        }
        by_table = {destination.table: destination for destination in self._destinations(tuple(tables.values()))}
        changes: dict[str, list[PipelineSchemaChange]] = {}
        for change in pending_changes(state, self._planner, self._settings.accepted):
            changes.setdefault(change.table.id, []).append(change)
        for name, table in tables.items():
            destination = by_table[name]
            if destination.problem is not None:
                self._findings.problems.append(Problem(None, destination.problem))
            yield _target(table, state.sinks[name].schema, changes.get(name, ()), by_table[name])

    def _note_keyless(
        self, tables: Sequence[PlannedTable], targets: Sequence[PlannedTarget], updated: Collection[str]
    ) -> None:
        """Note tables whose rows a sink of tables could not find again."""
        keyless = {target.id for target in targets if not target.primary_key and target.destination.kind == "table"}
        self._findings.notes += [
            f"table {table.id!r} has updates or deletions and no primary key, without which a sink's table takes "
            f"insertions only: name it by 'primary-keys' of a transform"
            for table in tables
            if table.id in updated and not keyless.isdisjoint(table.targets)
        ]

    def _destinations(self, tables: Sequence[PipelineTable]) -> Iterable[PipelineDestination]:
        try:
            return self._job.sink.destinations(self._session, tables)
        except MachineError as error:
            # Such as a library, which a run would lack, too
            self._findings.add(error)
            return [PipelineDestination(table.id, "table", table.id) for table in tables]

    def _rules(self, tables: Sequence[PlannedTable]) -> Iterator[PlannedRule]:
        ids = {table.id: table_id(table.id) for table in tables}
        for number, rule in enumerate(self._job.routes, start=1):
            pattern = Route.of(rule).pattern
            yield PlannedRule("route", number, rule.source_table, tuple(n for n, i in ids.items() if pattern.match(i)))
        for number, transform in enumerate(self._job.transforms, start=1):
            selector = TableSelector(transform.source_table)
            matching = tuple(name for name, id_ in ids.items() if selector.matches(id_))
            yield PlannedRule("transform", number, transform.source_table, matching)

    def _find_unused(self, rules: Sequence[PlannedRule], tables: Sequence[str]) -> None:
        """Add a problem for each rule without a table: its tables would be copied as if there were no rule."""
        if not tables:
            self._findings.notes.append("no table was found: there are no messages of changes yet")
        for rule in rules:
            if rule.tables:
                continue
            close = closest(rule.pattern, tables)
            hint = f"; did you mean {close!r}?" if close else ""
            sentence = f"{rule.kind} {rule.number} ({rule.pattern}) is for none of the tables that were found{hint}"
            if not tables:
                self._findings.notes.append(sentence)
                continue
            section = self._job.routes if rule.kind == "route" else self._job.transforms
            self._findings.problems.append(Problem(section[rule.number - 1].position("source-table"), sentence))

    def _find_missing_keys(self, rules: Sequence[PlannedRule], state: SchemaState) -> None:
        """Add a problem for each transform whose primary key none of its tables has: it is misspelt."""
        for rule in rules:
            transform = self._job.transforms[rule.number - 1] if rule.kind == "transform" else None
            if transform is None or not transform.primary_keys or not rule.tables:
                continue
            known = [state.sources[table].schema.names for table in rule.tables]
            if transform.projection is None and not any(set(transform.primary_keys) <= set(names) for names in known):
                sentence = (
                    f"transform {rule.number} ({rule.pattern}): none of its tables has the primary key "
                    f"({', '.join(transform.primary_keys)}) that 'primary-keys' names"
                )
                self._findings.problems.append(Problem(transform.position("primary-keys"), sentence))

    def _schema_change(self, type_: SchemaChangeType) -> PlannedSchemaChange:
        settings = self._settings
        is_supported, is_included = type_ in settings.supported, type_ in settings.accepted
        return PlannedSchemaChange(type_, is_supported, is_included, _outcome(settings, type_))


def _outcome(settings: EvolutionSettings, type_: SchemaChangeType) -> str:
    if type_ not in _FOUND:
        return "does not come: messages do not show it"
    if settings.strategy == "static" and type_ in ("add.column", "alter.column.type"):
        return "does not come: 'schema.inference.strategy' is static"
    is_included = type_ in settings.accepted
    if type_ == "create.table":
        return "is applied" if is_included else "is not applied: the table must be there"
    consequence = "rows stay" if type_ == "truncate.table" else "values are converted to the columns that there are"
    if settings.behavior == "exception" and (is_included or type_ != "truncate.table"):
        return "ends the pipeline"
    if settings.behavior in ("exception", "ignore") or not is_included:
        return f"is not applied: {consequence}"
    if type_ in settings.supported:
        return "is applied"
    if settings.behavior == "evolve":
        return "ends the pipeline: the sink cannot apply it"
    return f"is not applied, as the sink cannot: {consequence}"


def _target(
    table: PipelineTable, schema: Schema, changes: Sequence[PipelineSchemaChange], destination: PipelineDestination
) -> PlannedTarget:
    columns = {column.name: str(column.type) for column in schema}
    statements = tuple(map(schema_change_line, changes))
    return PlannedTarget(table.id, columns, table.primary_key, table.partition_keys, statements, destination)
