"""Runs of golden specs through the transforms of a pipeline, many in one job of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from millrace.errors import MillraceError
from millrace_catalog.types import Schema
from millrace_cdc.routing.router import Router
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.change_records import PLACE, RECORD_COLUMNS, ChangeColumns, row_images
from millrace_cdc.runtime.execution import pipeline_session
from millrace_cdc.runtime.image_values import ImageReader, TransformedChanges
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.transforms.transform import BoundTransform, Transforms
from support.golden_specs import GoldenChange, GoldenSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {"spark.sql.timeType.enabled": "true"}
"""Spark has values of TIME only where a session asks for them."""

_LARGEST_GROUP = 16
"""Rules that run in one job."""


@dataclass(frozen=True)
class RunPart:
    """Results of an item.

    Attributes:
        columns: The columns of the rule that it has run in.
        changes: Their changes.
    """

    columns: Schema
    changes: tuple[GoldenChange, ...]


@dataclass
class SpecRun:
    """The run of a spec. Its parts are the items of its projection, and its filter as `filter_part` names it.

    Attributes:
        refused: The parts that are refused, each with the reason.
        failed: The parts that end the pipeline, each with the error.
        parts: The items that have run.
    """

    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    parts: dict[str, RunPart] = field(default_factory=dict)


@dataclass(frozen=True)
class _Checked:
    """A rule of a spec that has been accepted, with the columns that it makes."""

    spec: GoldenSpec
    items: tuple[str, ...]
    condition: str | None
    transforms: tuple[BoundTransform, ...]
    columns: Schema


class GoldenRuns:
    """Run specs in a session.

    Args:
        spark: The session.
        source: The spec that prints all columns of the table as they are.
    """

    def __init__(self, spark: SparkSession, source: GoldenSpec) -> None:
        self._spark = spark
        self._source = source
        self._sessions: dict[str, SparkSession] = {}
        self._transforms: dict[str, RowTransforms] = {}

    def run(self, specs: Sequence[GoldenSpec]) -> dict[str, SpecRun]:
        """Run specs, and return their runs by their names."""
        runs = {spec.name: SpecRun() for spec in specs}
        checked = [each for spec in specs if (each := self._checked(spec, runs[spec.name])) is not None]
        for group in _groups(checked):
            self._run(group, runs)
        return runs

    def _checked(self, spec: GoldenSpec, run: SpecRun) -> _Checked | None:
        """Return the rule of a spec, without the parts that are refused."""
        with suppress(MillraceError):
            return self._bind(spec, spec.items, spec.filter)
        items = tuple(item for item in spec.items if self._is_accepted(spec, run, (item,), None, item))
        if not items:
            return None
        condition = spec.filter
        if condition and not self._is_accepted(spec, run, items, condition, filter_part(condition)):
            condition = None
        return self._bind(spec, items, condition)

    def _is_accepted(
        self, spec: GoldenSpec, run: SpecRun, items: tuple[str, ...], condition: str | None, part: str
    ) -> bool:
        try:
            self._bind(spec, items, condition)
        except MillraceError as error:
            run.refused[part] = str(error)
            return False
        return True

    def _bind(self, spec: GoldenSpec, items: tuple[str, ...], condition: str | None) -> _Checked:
        rules = Transforms([spec.rule(items, condition)])
        planner = TablePlanner(Router((), "ALL_MATCH"), rules, self._of_zone(spec))
        table, columns = self._source.table, self._source.columns
        made = planner.plan(table, columns, ()).columns
        return _Checked(spec, items, condition, planner.transforms(table, columns), made)

    def _of_zone(self, spec: GoldenSpec) -> RowTransforms:
        found = self._transforms.get(spec.zone)
        if found is None:
            self._sessions[spec.zone] = pipeline_session(
                self._spark, {**_SETTINGS, "spark.sql.session.timeZone": spec.zone}
            )
            found = self._transforms[spec.zone] = RowTransforms(self._sessions[spec.zone])
        return found

    def _run(self, group: Sequence[_Checked], runs: Mapping[str, SpecRun]) -> None:
        """Run rules in one job; where one fails, run half of them in each of two jobs, down to single items."""
        try:
            found = self._changes(group)
        except (PySparkException, Py4JError, MillraceError) as error:
            halves = self._halves(group)
            for half in halves:
                self._run(half, runs)
            if not halves:
                # A filter that fails, fails with each item
                runs[group[0].spec.name].failed |= dict.fromkeys(group[0].items, str(error))
            return
        for each, changes in zip(group, found, strict=True):
            runs[each.spec.name].parts |= dict.fromkeys(each.items, RunPart(each.columns, changes))

    def _halves(self, group: Sequence[_Checked]) -> list[Sequence[_Checked]]:
        """Return two halves of the rules, or of the items of a single one; none for a single item."""
        if len(group) > 1:
            middle = len(group) // 2
            return [group[:middle], group[middle:]]
        items, middle = group[0].items, len(group[0].items) // 2
        rules = (self._bind(group[0].spec, part, group[0].condition) for part in (items[:middle], items[middle:]))
        return [[rule] for rule in rules] if middle else []

    def _changes(self, group: Sequence[_Checked]) -> list[tuple[GoldenChange, ...]]:
        """Return the changes of rules, in order.

        The stages of executors run here, so that Spark evaluates expressions without starting tasks.
        """
        # A rule that reads the table's id gets the table itself; see `_groups`
        names = [self._source.table, *(f"{self._source.table}{number}" for number in range(1, len(group)))]
        tables = dict.fromkeys(names, SourceTableSchema(str(self._source.columns), ()))
        changes = ChangeColumns()
        for name, each in zip(names, group, strict=True):
            for row in self._rows(each.spec):
                changes.add(len(changes.rows), name, *row)
        bound = {name: each.transforms for name, each in zip(names, group, strict=True) if each.transforms}
        found: dict[str, list[GoldenChange]] = {name: [] for name in names}
        for batch in self._transformed(changes.to_batch(_places(len(changes.rows))), tables, bound, group[0].spec):
            for table, operation, *rows in zip(
                *(batch.column(name).to_pylist() for name in ("table", "operation")), *row_images(batch), strict=True
            ):
                found[table].append(GoldenChange(operation, *map(_decoded, rows)))
        return [tuple(changes) for changes in found.values()]

    def _transformed(
        self,
        changes: pa.RecordBatch,
        tables: Mapping[str, SourceTableSchema],
        transforms: Mapping[str, Sequence[BoundTransform]],
        spec: GoldenSpec,
    ) -> Iterator[pa.RecordBatch]:
        is_transformed = pc.is_in(changes.column("table"), pa.array(list(transforms)))
        yield changes.filter(pc.invert(is_transformed))
        if transforms:
            runner = self._of_zone(spec)
            images, programs = runner.images(tables, transforms)
            (values,) = ImageReader(images, frozenset(tables)).read([changes.filter(is_transformed)])
            frame = self._sessions[spec.zone].createDataFrame(pa.Table.from_batches([values]))
            computed = frame.select(*RECORD_COLUMNS, runner.results(programs).alias("results")).toArrow()
            yield from TransformedChanges(images).make(computed.to_batches())

    def _rows(self, spec: GoldenSpec) -> Iterator[tuple[Any, ...]]:
        for change in self._source.changes:
            rows = (change.before, change.after)
            if spec.is_nullable or all(_is_whole(row) for row in rows if row is not None):
                yield change.operation, *(None if row is None else exact_json.encode(row) for row in rows)


def _groups(rules: Iterable[_Checked]) -> Iterator[list[_Checked]]:
    """Yield rules that may run in one job: those of a time zone, and alone what reads the id of its table."""
    groups: dict[str, list[_Checked]] = {}
    for rule in rules:
        if any("__" in item for item in rule.items):
            yield [rule]
        else:
            groups.setdefault(rule.spec.zone, []).append(rule)
    for group in groups.values():
        yield from (group[start : start + _LARGEST_GROUP] for start in range(0, len(group), _LARGEST_GROUP))


def filter_part(condition: str) -> str:
    """Return the name of a filter among the parts of a spec."""
    return f"WHERE {condition}"


def _is_whole(row: Mapping[str, Any]) -> bool:
    return all(value is not None for value in row.values())


def _decoded(row: bytearray | None) -> Any:
    return None if row is None else exact_json.decode(bytes(row))


def _places(count: int) -> pa.RecordBatch:
    """Return the places of messages."""
    values = {"topic": ["specs"] * count, "partition": [0] * count, "offset": range(count)}
    return pa.record_batch([pa.array(values.get(name, [0] * count)) for name in PLACE], list(PLACE))
