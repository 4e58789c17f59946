"""Plan the sink's tables: routes and transforms of each of the source's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from millrace.errors import SchemaError
from millrace_catalog.types import Schema
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.routing.patterns import TableSelector
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.projection import Projection, projection_of, table_id


class Projector(Protocol):
    """Analysis of projections."""

    def columns(self, table: str, columns: Schema, projection: Projection) -> Schema:
        """Return the columns that a projection makes of a table's."""


@dataclass(frozen=True)
class TablePlan:
    """The targets of one of the source's tables.

    Attributes:
        targets: The ids of the sink's tables that its rows go to.
        columns: Their columns.
        primary_key: The columns of their primary key; None where neither rule nor message names one.
    """

    targets: tuple[str, ...]
    columns: Schema
    primary_key: tuple[str, ...] | None


@dataclass(frozen=True)
class TableLayout:
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
        transforms: The transforms, of which one at most may match a table.
        projector: Analyzes their projections.
    """

    def __init__(
        self, router: Router, transforms: Sequence[TransformRule] = (), projector: Projector | None = None
    ) -> None:
        self._router = router
        self._projector = projector
        self._transforms = [(TableSelector(rule.source_table), rule) for rule in transforms]
        self._targets: dict[str, tuple[str, ...]] = {}
        self._layouts: dict[str, TableLayout] = {}
        self._rules: dict[str, TransformRule | None] = {}

    def plan(self, table: str, columns: Schema, primary_key: tuple[str, ...]) -> TablePlan:
        """Plan one of the source's tables.

        Raises:
            SchemaError: A rule names a column that it lacks, or makes no table's id of its name.
        """
        rule = self._rule(table)
        if rule is None:
            return TablePlan(self.targets(table), columns, primary_key or None)
        projection = self.projection(table, columns)
        if projection is not None and self._projector is not None:
            columns = self._projector.columns(table, columns, projection)
        for name in (*rule.primary_keys, *rule.partition_keys):
            if name not in columns.types:
                raise SchemaError(
                    f"table {table!r} has no column {quote_name(name)}, which the transform of {rule.source_table!r} "
                    f"names; it has {', '.join(map(quote_name, columns.names))}"
                )
        return TablePlan(self.targets(table), columns, rule.primary_keys or primary_key or None)

    def projection(self, table: str, columns: Schema) -> Projection | None:
        """Return the projection of a table's rows; None where they stay as they are."""
        rule = self._rule(table)
        return None if rule is None else projection_of(rule, columns)

    def targets(self, table: str) -> tuple[str, ...]:
        """Return the ids of the sink's tables that the rows of one of the source's go to.

        Raises:
            SchemaError: A route makes no table's id of its name.
        """
        known = self._targets.get(table)
        if known is None:
            try:
                known = tuple(str(target) for target in self._router.route(table_id(table)))
            except ValueError as error:
                raise SchemaError(f"route of table {table!r}: {error}") from error
            self._targets[table] = known
            rule = self._rule(table)
            for target in known:
                if rule is not None:
                    self._layouts.setdefault(target, TableLayout(rule.partition_keys, dict(rule.table_options)))
        return known

    def layout(self, target: str) -> TableLayout:
        """Return the layout of one of the sink's tables, some source's table of which has been planned."""
        return self._layouts.get(target) or TableLayout()

    def _rule(self, table: str) -> TransformRule | None:
        if table not in self._rules:
            id_ = table_id(table)
            rules = [rule for selector, rule in self._transforms if selector.matches(id_)]
            if len(rules) > 1:
                raise SchemaError(
                    f"table {table!r} matches the transforms of {rules[0].source_table!r} and "
                    f"{rules[1].source_table!r}: only one can be for a table yet; let the others not match it"
                )
            self._rules[table] = rules[0] if rules else None
        return self._rules[table]
