"""The rows of a part of a query: their columns, what identifies them, and how they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlglot
from sqlglot import exp

from millrace.contracts import ChangelogMode
from millrace_sql.planner.steps import Step

if TYPE_CHECKING:
    from millrace_sql.planner.query_text import QueryText

INSERT_ONLY = ChangelogMode.INSERT_ONLY


@dataclass(frozen=True)
class Relation:
    """The result of a table, join or query.

    Attributes:
        step: The operation that makes it, with the kinds of its rows.
        columns: Its columns without that of row kinds; None when only Spark knows them.
        types: Types of columns that are known, by their names in lower case.
        event_time: The columns with a watermark, in lower case.
        key: The columns that identify a row, in lower case; empty when none are known.
        scans: The scans whose old rows of updates (``-U``) would come out as such, if they were asked for.
        states: The numbers of the steps with state whose results it has; their old results come out only if asked for.
        is_static: Whether a stream reads it as a batch.
        lost_key: The columns that identified its rows before a query left one of them out; empty for none.
        has_one_row: Whether it is one row at most, which changes.
        origin: The operation that makes it a changelog; empty when it is insert-only.
        volatile: The columns whose values are other ones for the old row of an update than they were, in lower case,
            with the function that makes them so.
        processing_time: The columns that have the time of the micro-batch, in lower case.
        ranking: Of rows with ROW_NUMBER, which are planned by the query around theirs: their numbering.
    """

    step: Step
    columns: tuple[str, ...] | None = None
    types: Mapping[str, Any] = field(default_factory=dict)
    event_time: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()
    scans: frozenset[int] = frozenset()
    states: frozenset[int] = frozenset()
    is_static: bool = False
    lost_key: tuple[str, ...] = ()
    has_one_row: bool = False
    origin: str = ""
    volatile: Mapping[str, str] = field(default_factory=dict)
    processing_time: frozenset[str] = frozenset()
    ranking: Ranking | None = None

    @property
    def mode(self) -> ChangelogMode:
        """The kinds of its rows."""
        return self.step.mode

    @property
    def has_state(self) -> bool:
        """True when Spark keeps state for its rows."""
        return bool(self.states)

    @property
    def is_changelog(self) -> bool:
        """True when its rows have a column of row kinds."""
        return not self.mode.is_insert_only


@dataclass(frozen=True)
class Source:
    """A relation in FROM.

    Attributes:
        alias: Its name in the query; empty when it has none.
        relation: The relation.
        node: Its place in the tree.
        join: The join that it is the right side of; None for the first.
        as_of: The time after FOR SYSTEM_TIME AS OF, as it is written; None without it.
    """

    alias: str
    relation: Relation
    node: exp.Expr
    join: exp.Join | None = None
    as_of: str | None = None


@dataclass(frozen=True)
class Order:
    """An expression of ORDER BY.

    Attributes:
        expression: The expression.
        is_descending: Whether the greatest value comes first.
        nulls_first: Whether NULL comes before all values.
    """

    expression: exp.Expr
    is_descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        return f"{spark_sql(self.expression)} {'DESC' if self.is_descending else 'ASC'}"


class Bounds(NamedTuple):
    """The numbers that a query keeps.

    Attributes:
        first: The least one.
        last: The greatest one.
        is_selected: Whether the query reads the numbers beside keeping some of them.
    """

    first: int
    last: int
    is_selected: bool


@dataclass
class Ranking:
    """A SELECT that numbers rows, which is planned when the numbers that are kept are known.

    Attributes:
        text: The query, for errors.
        node: The SELECT.
        column: The name of the number.
        partition: The expressions of PARTITION BY.
        orders: Those of ORDER BY.
        sources: What it selects from.
        nested: The queries within its expressions.
        planned: The result for bounds that a query has asked for.
    """

    text: QueryText
    node: exp.Select
    column: str
    partition: tuple[exp.Expr, ...]
    orders: tuple[Order, ...]
    sources: tuple[Source, ...]
    nested: tuple[Relation, ...]
    planned: dict[Bounds, Relation] = field(default_factory=dict)


def spark_sql(node: exp.Expr) -> str:
    """Return the text of a part of a tree, as Spark spells it."""
    return node.sql(dialect="spark", comments=False)


def parse_expression(text: str) -> Any:
    """Return the tree of an expression that the planner itself writes."""
    return sqlglot.parse_one(text, dialect="spark")


def quoted(name: str) -> str:
    """Return a name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def output_name(item: Any) -> str:
    """Return the name of a selected column: its alias, that of the column itself, or its text."""
    return item.alias_or_name if isinstance(item, exp.Alias | exp.Column | exp.Dot) else spark_sql(item)


def calls_of(node: exp.Expr) -> set[str]:
    """Return the names of the functions in an expression, as Spark spells them, in upper case."""
    return {name for name, _ in function_calls(node)}


def function_calls(node: exp.Expr) -> Iterator[tuple[str, str]]:
    """Yield the functions in an expression, their names in upper case, with the texts of their calls."""
    for function in node.find_all(exp.Func):
        text = spark_sql(function)
        yield text.partition("(")[0].strip("`").upper(), text
