"""The state of a query's analysis, which the parts of the planner share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from millrace_sql.errors import SqlError
from millrace_sql.planner.dialect.tokens import Edit
from millrace_sql.planner.model import Scan
from millrace_sql.planner.query_text import QueryText, apply_edits, original_offset, place
from millrace_sql.planner.ranking import HOW_TO_BOUND
from millrace_sql.planner.relations import Ranking, Relation, spark_sql
from millrace_sql.planner.user_functions import FunctionLookup, no_functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Stage(Protocol):
    """A query that runs before the analysed one, which reads its rows from a view.

    Attributes:
        query: The rows that come in; common table expressions are added to it.
    """

    @property
    def query(self) -> exp.Expr: ...  # noqa: D102 - see above

    def create_view(self, spark: SparkSession) -> None:
        """Create the view."""


@dataclass
class Analysis:
    """The state of a walk through a query, and its findings.

    Attributes:
        streaming: Whether the query is a stream.
        update_before: The scans that must read old rows of updates, by number, as earlier walks found.
        time_zone: The session's time zone.
        kept_states: The steps with state that return old results too (``-U``), by number, as earlier walks found.
        functions: Finds user-defined functions.
        scans: The scans, in the order in which the query names them.
        asked: The scans whose old rows of updates something needs, found by this walk.
        asked_states: The steps with state whose old results something needs, found by this walk.
        is_rewritten: Whether Spark gets the text of the rewritten tree; else it gets the user's, with tables replaced.
        hinted: The tables that could have a hint of options: their query's text and the last offset of their name.
        stages: What runs before the query itself: what Python keeps state for, and windows of local times.
        output_mode: Spark's output mode.
        rankings: The SELECTs of a stream with ROW_NUMBER.
    """

    streaming: bool
    update_before: frozenset[int] = frozenset()
    time_zone: str = "UTC"
    kept_states: frozenset[int] = frozenset()
    functions: FunctionLookup = no_functions
    scans: list[Scan] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    asked_states: set[int] = field(default_factory=set)
    is_rewritten: bool = False
    hinted: set[tuple[int, int]] = field(default_factory=set)
    stages: list[Stage] = field(default_factory=list)
    output_mode: str = "append"
    rankings: list[Ranking] = field(default_factory=list)
    _edits: dict[int, list[Edit]] = field(default_factory=dict)
    _named_queries: dict[str, exp.CTE] = field(default_factory=dict)
    _scopes: list[tuple[exp.Expr, dict[str, exp.CTE]]] = field(default_factory=list)
    _complete_states: dict[int, bool] = field(default_factory=dict)

    def check_hints(self, text: QueryText) -> None:
        """Check that each hint of options stands at a table.

        Raises:
            SqlError: One does not.
        """
        message = (
            "a hint of options stands right after the name of a table: write t /*+ OPTIONS('key' = 'value') */ AS x"
        )
        for end in text.hints:
            if (id(text), end) not in self.hinted:
                raise SqlError(message, place(text.source, original_offset(text.edits, end)))
        for hint in text.tree.find_all(exp.Hint):
            if any(spark_sql(expression).upper().startswith("OPTIONS(") for expression in hint.expressions):
                raise text.error(message)

    def ask_for_old_rows(self, text: QueryText, relation: Relation) -> None:
        """Note that an operation needs the old rows of a relation's updates, with all their columns.

        Raises:
            SqlError: An old row would not be what it was.
        """
        if relation.is_changelog and relation.volatile:
            function = next(iter(relation.volatile.values()))
            message = (
                f"{function} returns something else for an old row of {relation.origin} than for the "
                "row when it was new: leave it out, or write its result to a table first"
            )
            raise text.error(message)
        self.asked |= relation.scans
        self.asked_states |= relation.states

    def add_stage(self, stage: Stage) -> None:
        """Run something before the query itself, over the common table expressions that can be named here."""
        self.stages.append(stage)
        self._scopes.append((stage.query, dict(self._named_queries)))

    def name_queries(self) -> None:
        """Give the queries of stages the common table expressions that they name, when all are rewritten."""
        for query, scope in self._scopes:
            used: list[exp.Expr] = []
            own = query.args["with_"].expressions if query.args.get("with_") else []
            for name, cte in reversed(scope.items()):
                named = {table.name.lower() for tree in (query, *used) for table in tree.find_all(exp.Table)}
                if name in named - {own_cte.alias.lower() for own_cte in own}:
                    used.insert(0, cte.copy())
            if used:
                query.set("with_", exp.With(expressions=[*used, *own]))

    def check_rankings(self) -> None:
        """Check that each ROW_NUMBER has a query around it that keeps its first numbers.

        Raises:
            SqlError: One does not.
        """
        for ranking in self.rankings:
            if not ranking.planned:
                raise ranking.text.error(HOW_TO_BOUND, ranking.node)

    @property
    def is_complete(self) -> bool:
        """True when everything that this walk asks for is read and kept."""
        return self.asked <= self.update_before and self.asked_states <= self.kept_states

    def new_state(self) -> int:
        """Return the number of a further step with state, which is the same in each walk."""
        number = len(self._complete_states)
        self._complete_states[number] = number in self.kept_states
        return number

    def set_complete(self, state: int) -> None:
        """Note that a step with state returns its old results, whether asked for or not."""
        self._complete_states[state] = True

    def lacks_results(self, relation: Relation) -> bool:
        """Return whether a relation has rows without the old results that they replace."""
        return not all(self._complete_states[state] for state in relation.states)

    def text_of(self, query: QueryText) -> str:
        """Return the user's text of a query, with the names of its tables replaced."""
        return apply_edits(query.text, tuple(sorted(self._edits.get(id(query), []))))

    def edit(self, query: QueryText, start: int, end: int, replacement: str) -> None:
        """Replace a part of a query's text."""
        self._edits.setdefault(id(query), []).append(Edit(start, end, replacement))
