"""Plan the sink's tables: routes and transforms of each of the source's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from millrace.errors import SchemaError
from millrace_catalog.types import DataType, Schema, widen_schemas
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.routing.router import Router
from millrace_cdc.routing.shared_targets import may_be_shared
from millrace_cdc.runtime.projection import is_identity
from millrace_cdc.table_id import table_id
from millrace_cdc.transforms.transform import BoundTransform, Transform, Transforms


class Projector(Protocol):
    """Analysis of transforms."""

    def columns(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        """Return the columns that a transform makes of a table's."""


@dataclass(frozen=True)
class TablePlan:
    """The targets of one of the source's tables.

    Attributes:
        targets: The ids of the sink's tables that its rows go to.
        columns: Their columns.
        primary_key: The columns of their primary key; None where neither rule nor message names one.
        has_rule_key: Whether a rule names them.
        notes: Sentences about rules that do not fit the table.
    """

    targets: tuple[str, ...]
    columns: Schema
    primary_key: tuple[str, ...] | None
    has_rule_key: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SinkTableLayout:
    """The layout of one of the sink's tables.

    Attributes:
        partition_keys: The columns that divide it into partitions.
        options: Options for its creation.
    """

    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


class TablePlanner:
    """Plan the sink's tables by the rules of a pipeline.

    Args:
        router: The routes.
        transforms: The transforms.
        projector: Analyzes them.
        unchanged: The id of a table that no rule applies to; None where there is none.
    """

    def __init__(
        self, router: Router, transforms: Transforms, projector: Projector, unchanged: str | None = None
    ) -> None:
        self._unchanged = unchanged
        self._router = router
        self._rules = transforms
        self._projector = projector
        self._targets: dict[str, tuple[str, ...]] = {}
        self._layouts: dict[str, SinkTableLayout] = {}
        self._transforms: dict[str, tuple[Transform, ...]] = {}
        self._bound: dict[str, tuple[Mapping[str, DataType], tuple[BoundTransform, ...]]] = {}

    def plan(self, table: str, columns: Schema, primary_key: tuple[str, ...]) -> TablePlan:
        """Plan one of the source's tables.

        Raises:
            PipelineError: A rule names a column that it lacks, or an expression is wrong for it.
            SchemaError: A route makes no table's id of its name.
        """
        bound = [rule.bind(columns.names, primary_key, types=columns.types) for rule in self._of_table(table)]
        if not bound:
            return TablePlan(self.targets(table), columns, primary_key or None)
        schemas = [
            columns if is_identity(transform, columns) else self._projector.columns(table, columns, transform)
            for transform in bound
        ]
        widest = schemas[0]
        for schema in schemas[1:]:
            widest = widen_schemas(widest, schema)
        first = bound[0]
        notes = (_missing_keys_note(table, first),) if first.missing_keys else ()
        has_rule_key = bool(first.rule.primary_keys) and not notes
        return TablePlan(self.targets(table), widest, first.primary_key or None, has_rule_key, notes)

    def transforms(self, table: str, columns: Schema) -> tuple[BoundTransform, ...]:
        """Return the transforms of a table's rows; none where they stay as they are."""
        cached = self._bound.get(table)
        if cached is None or cached[0] != columns.types:
            bound = tuple(rule.bind(columns.names, types=columns.types) for rule in self._of_table(table))
            is_same = len(bound) == 1 and is_identity(bound[0], columns)
            cached = self._bound[table] = columns.types, () if is_same else bound
        return cached[1]

    def targets(self, table: str) -> tuple[str, ...]:
        """Return the ids of the sink's tables that the rows of one of the source's go to.

        Raises:
            SchemaError: A route makes no table's id of its name.
        """
        if table == self._unchanged:
            return (table,)
        targets = self._targets.get(table)
        if targets is None:
            try:
                targets = tuple(str(target) for target in self._router.route(table_id(table)))
            except ValueError as error:
                raise SchemaError(f"route of table {table!r}: {error}") from error
            self._targets[table] = targets
            for transform in self._of_table(table)[:1]:
                layout = SinkTableLayout(transform.rule.partition_keys, dict(transform.rule.table_options))
                for target in targets:
                    self._layouts.setdefault(target, layout)
        return targets

    def targets_of(self, tables: Iterable[str]) -> frozenset[str]:
        """Return the ids of the sink's tables that the rows of some of the source's go to, as far as routes lead."""
        targets: set[str] = set()
        for table in tables:
            with suppress(SchemaError):
                targets.update(self.targets(table))
        return frozenset(targets)

    def may_share_targets(self, table: str) -> bool:
        """Return whether the rules may bring rows of other tables to the targets of one of the source's."""
        if table == self._unchanged:
            return False
        routes, targets = self._router.routes, self.targets(table)
        return any(may_be_shared(routes, table_id(table), table_id(target)) for target in targets)

    def layout(self, target: str) -> SinkTableLayout:
        """Return the layout of one of the sink's tables, some source's table of which has been planned."""
        return self._layouts.get(target) or SinkTableLayout()

    def _of_table(self, table: str) -> tuple[Transform, ...]:
        if table == self._unchanged:
            return ()
        if table not in self._transforms:
            self._transforms[table] = self._rules.of_table(table_id(table))
        return self._transforms[table]


def _missing_keys_note(table: str, transform: BoundTransform) -> str:
    names = ", ".join(map(quote_name, transform.missing_keys))
    key = transform.primary_key
    consequence = f"it keeps the primary key of its messages ({', '.join(key)})" if key else "it has no primary key"
    return f"table {table!r} has no column {names}, which 'primary-keys' of its transform names: {consequence}"
