"""The first rows of each partition of a stream: ROW_NUMBER() with a query around it that keeps the first numbers.

Of inserted rows, Spark's own aggregates keep the first one, or those of a window of time. Anything else is kept by a
Python function. Rows of one time, or one value, are told apart by their arrival, as in the reference: the first that
came has the least number; of rows by a descending time, the last that came.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.arrival import SEQUENCE
from millrace_sql.planner.rank_stages import NumberedStage, RankStage
from millrace_sql.planner.ranking import HOW_TO_BOUND, take_bounds
from millrace_sql.planner.relations import (
    INSERT_ONLY,
    Bounds,
    Order,
    Ranking,
    Relation,
    Source,
    output_name,
    parse_expression,
    quoted,
    spark_sql,
)
from millrace_sql.planner.steps import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from millrace_sql.planner.query_text import QueryText

    PlanSelect = Callable[[Analysis, QueryText, exp.Select, tuple[Source, ...], tuple[Relation, ...]], Relation]

_WINDOW = {"window_start", "window_end"}
_WINDOW_TIME = "__window_time"


def keep_first_numbers(
    analysis: Analysis, text: QueryText, node: exp.Select, source: Source, plan_select: PlanSelect
) -> Source:
    """Return a source of a SELECT with its numbered rows planned, by the numbers that the SELECT keeps.

    Raises:
        SqlError: The SELECT keeps all of them, or they cannot be kept exactly.
    """
    ranking = source.relation.ranking
    if ranking is None:
        return source
    bounds = take_bounds(node, source, ranking)
    if bounds is None:
        raise text.error(HOW_TO_BOUND, node)
    if bounds.first > bounds.last:
        raise text.error(f"no row has a number from {bounds.first} to {bounds.last}: numbers begin with 1", node)
    if bounds not in ranking.planned:
        if ranking.planned:
            raise text.error("numbered rows are kept in two ways: write their query twice", node)
        ranking.planned[bounds] = _Planner(analysis, ranking, bounds).plan(plan_select)
    return replace(source, relation=ranking.planned[bounds])


class _Planner:
    """The plan of a ranking, which rewrites its tree.

    Args:
        analysis: The walk through the query.
        ranking: The ranking.
        bounds: The numbers that are kept.
    """

    def __init__(self, analysis: Analysis, ranking: Ranking, bounds: Bounds) -> None:
        self._analysis = analysis
        self._ranking = ranking
        self._bounds = bounds
        self._text, self._node = ranking.text, ranking.node
        relations = [source.relation for source in ranking.sources]
        self._processing_time = frozenset[str]().union(*(relation.processing_time for relation in relations))
        self._event_time = frozenset[str]().union(*(relation.event_time for relation in relations))
        self._state = analysis.new_state()
        expressions = self._node.expressions
        self._place = next(i for i, item in enumerate(expressions) if output_name(item) == ranking.column)
        self._after = len(expressions) - self._place - 1
        if any(item.is_star for item in expressions[self._place + 1 :]):
            raise self._text.error("write ROW_NUMBER() after the * of its query", self._node)

    def plan(self, plan_select: PlanSelect) -> Relation:
        """Return the relation of the rows that are kept."""
        analysis = self._analysis
        base = self._base()
        rows = plan_select(analysis, self._text, base, self._ranking.sources, self._ranking.nested)
        if rows.columns is None:
            raise self._text.error("the columns of numbered rows are not known before the query runs: name them", base)
        added = len(self._ranking.partition) + len(self._ranking.orders)
        names = rows.columns[: len(rows.columns) - added]
        if len({name.lower() for name in names}) < len(names):
            raise self._text.error("numbered rows have two columns of one name: give them others", base)
        analysis.is_rewritten = True
        analysis.asked_states |= rows.states
        if rows.is_changelog:
            analysis.ask_for_old_rows(self._text, rows)
        key = self._partition_columns(names)
        if not rows.is_changelog and self._is_windowed(rows):
            return self._plan_windows(base, rows, names)
        is_first_row = not rows.is_changelog and self._bounds[:2] == (1, 1) and self._has_one_direction
        is_known = len(key) == len(self._ranking.partition)
        if is_first_row and is_known and self._state not in analysis.kept_states:
            return self._plan_first_row(base, rows, names, key)
        return self._plan_kept_rows(base, rows, names, key if is_known else None)

    def _base(self) -> exp.Select:
        """Return the SELECT without numbers, with the expressions of PARTITION BY and ORDER BY as its last columns."""
        base = self._node.copy()
        base.expressions[self._place].pop()
        for place, item in enumerate(self._ranking.partition):
            base.append("expressions", parse_expression(f"{spark_sql(item)} AS __group{place}"))
        for place, order in enumerate(self._ranking.orders):
            base.append("expressions", parse_expression(f"{spark_sql(order.expression)} AS __order{place}"))
        return base

    def _partition_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of PARTITION BY that the SELECT hands on as they are."""
        items = [item for item in self._node.expressions if not item.is_star]
        has_star = len(items) < len(self._node.expressions)
        aliases = {item.this.name.lower(): item.alias_or_name.lower() for item in items if isinstance(item, exp.Alias)}
        selected = {name.lower() for name in names}
        columns = []
        for item in self._ranking.partition:
            name = item.name.lower()
            name = name if has_star and name in selected else aliases.get(name, name)
            if isinstance(item, exp.Column) and name in selected:
                columns.append(name)
        return tuple(columns)

    @property
    def _has_one_direction(self) -> bool:
        return len({order.is_descending for order in self._ranking.orders}) == 1

    def _is_time(self, order: Order, columns: frozenset[str]) -> bool:

        item = order.expression
        is_now = columns is self._processing_time and isinstance(item, exp.CurrentTimestamp)
        return is_now or (isinstance(item, exp.Column) and item.name.lower() in columns)

    @property
    def _by_arrival(self) -> bool:
        """True when rows are ordered by the processing time alone."""
        orders = self._ranking.orders
        return len(orders) == 1 and self._is_time(orders[0], self._processing_time)

    @property
    def _prefers_last_arrived(self) -> bool:
        """True when, of rows with one value, the last that came is the first: the last row by a time, which is one."""
        orders = self._ranking.orders
        is_time = self._by_arrival or (len(orders) == 1 and self._is_time(orders[0], self._event_time))
        is_one = self._bounds[:2] == (1, 1) or self._by_arrival
        return is_one and is_time and orders[0].is_descending

    def _is_windowed(self, rows: Relation) -> bool:
        partition = {item.name.lower() for item in self._ranking.partition}
        columns = {name.lower() for source in self._ranking.sources for name in source.relation.columns or ()}
        return partition >= _WINDOW and columns >= {*_WINDOW, "window_time"}

    def _stage_names(self, names: tuple[str, ...], *more: str) -> tuple[str, ...]:
        """Return generated names for the columns of the SELECT, and those of groups and orders."""
        groups = (f"__group{place}" for place in range(len(self._ranking.partition)))
        orders = (f"__order{place}" for place in range(len(self._ranking.orders)))
        return (*(f"__column{place}" for place in range(len(names))), *groups, *orders, *more)

    def _plan_first_row(
        self, base: exp.Select, rows: Relation, names: tuple[str, ...], key: tuple[str, ...]
    ) -> Relation:
        """Let Spark keep the first row of each partition by its aggregates of a least or greatest value."""
        stage = NumberedStage(self._view_name(), base, self._stage_names(names))
        self._analysis.add_stage(stage)
        self._analysis.output_mode = "update"
        groups = [f"__group{place}" for place in range(len(self._ranking.partition))]
        columns = ", ".join(f"__column{place}" for place in range(len(names)))
        inner = (
            f"SELECT MIN(__now) AS __first, {self._first_of(f'STRUCT({columns}, __now)')} AS __best FROM "  # noqa: S608
            f"(SELECT *, CURRENT_TIMESTAMP() AS __now FROM {quoted(stage.view_name)})"
        )
        inner += f" GROUP BY {', '.join(groups)}" if groups else ""
        is_new = "__first = CURRENT_TIMESTAMP()"
        stays = self._by_arrival and not self._ranking.orders[0].is_descending
        kind = "" if stays else f", CASE WHEN {is_new} THEN '+I' ELSE '+U' END AS {ROW_KIND_COLUMN}"
        condition = is_new if stays else "__best.__now = CURRENT_TIMESTAMP()"
        items = self._items(names, lambda place: f"__best.__column{place}", "1")
        self._write(f"SELECT {items}{kind} FROM ({inner}) WHERE {condition}")  # noqa: S608 - of the parsed query
        mode = INSERT_ONLY if stays else ChangelogMode(frozenset({"+I", "+U"}))
        return self._relation("Deduplicate", rows, names, mode, key)

    def _first_of(self, value: str) -> str:
        """Return the aggregate of the value of the row that comes first."""
        orders = self._ranking.orders
        is_descending = orders[0].is_descending
        parts = [] if self._by_arrival else list(self._order_parts())
        # The last that came is the greatest: it is preferred where the greatest is, or by a sign
        sign = "" if is_descending is self._prefers_last_arrived else "-"
        parts += [f"{sign}UNIX_MICROS(__now) AS __micros", f"{sign}{SEQUENCE} AS {SEQUENCE}"]
        return f"{'MAX_BY' if is_descending else 'MIN_BY'}({value}, STRUCT({', '.join(parts)}))"

    def _order_parts(self) -> list[str]:
        parts = []
        for place, order in enumerate(self._ranking.orders):
            if order.nulls_first is order.is_descending:
                parts.append(f"__order{place} IS NULL AS __null{place}")
            parts.append(f"__order{place}")
        return parts

    def _plan_windows(self, base: exp.Select, rows: Relation, names: tuple[str, ...]) -> Relation:
        """Let Spark keep the rows of each window until it is over, and number them then."""
        if not rows.event_time and not self._event_time:
            message = "a window is over when the watermark has passed it: declare WATERMARK FOR on the column of time"
            raise self._text.error(message, self._node)
        base.append("expressions", parse_expression(f"window_time AS {_WINDOW_TIME}"))
        stage = NumberedStage(self._view_name(), base, self._stage_names(names, _WINDOW_TIME), time_column=_WINDOW_TIME)
        self._analysis.add_stage(stage)
        columns = self._stage_names(names)[: len(names)]
        orders = self._stage_names(())[len(self._ranking.partition) :]
        entry = f"STRUCT({', '.join((*orders, '__now', SEQUENCE, *columns))})"
        groups = ", ".join((_WINDOW_TIME, *self._stage_names(())[: len(self._ranking.partition)]))
        first, last, _ = self._bounds
        rows_of_windows = (
            f"SELECT SLICE(ARRAY_SORT(COLLECT_LIST({entry}), {self._comparison()}), {first}, {last - first + 1}) "  # noqa: S608
            f"AS __best FROM (SELECT *, CURRENT_TIMESTAMP() AS __now FROM {quoted(stage.view_name)}) GROUP BY {groups}"
        )
        exploded = f"SELECT POSEXPLODE(__best) AS (__place, __row) FROM ({rows_of_windows})"  # noqa: S608
        items = self._items(names, lambda place: f"__row.__column{place}", f"__place + {first}")
        self._write(f"SELECT {items} FROM ({exploded})")  # noqa: S608 - of the parsed query
        return replace(self._relation("WindowRank", rows, names, INSERT_ONLY, ()), states=frozenset())

    def _comparison(self) -> str:
        """Return the function that compares two rows by ORDER BY, then by their arrival."""
        cases = []
        for place, order in enumerate([] if self._by_arrival else self._ranking.orders):
            one, other, null = f"l.__order{place}", f"r.__order{place}", -1 if order.nulls_first else 1
            least = 1 if order.is_descending else -1
            cases += [
                f"WHEN {one} IS NULL AND NOT {other} IS NULL THEN {null}",
                f"WHEN NOT {one} IS NULL AND {other} IS NULL THEN {-null}",
                f"WHEN {one} < {other} THEN {least} WHEN {one} > {other} THEN {-least}",
            ]
        least = 1 if self._prefers_last_arrived else -1
        for name in ("__now", SEQUENCE):
            cases.append(f"WHEN l.{name} < r.{name} THEN {least} WHEN l.{name} > r.{name} THEN {-least}")
        return f"(l, r) -> CASE {' '.join(cases)} ELSE 0 END"

    def _plan_kept_rows(
        self, base: exp.Select, rows: Relation, names: tuple[str, ...], key: tuple[str, ...] | None
    ) -> Relation:
        """Let Python keep the rows of each partition: the first ones, or all where rows can be taken away."""
        is_one = self._bounds.first == self._bounds.last
        by_number = is_one or self._bounds.is_selected
        key_of_rows = rows.key if set(rows.key) <= {name.lower() for name in names} else ()
        # An old result is the row that came out before; that of a table may have the metadata of a later message
        identity = () if rows.has_state else key_of_rows
        stage = RankStage(
            self._view_name(),
            base,
            self._stage_names(names, *((ROW_KIND_COLUMN,) if rows.is_changelog else ())),
            len(names),
            len(self._ranking.partition),
            () if self._by_arrival else self._ranking.orders,
            self._bounds.first,
            self._bounds.last,
            by_number=by_number,
            prefers_last_arrived=self._prefers_last_arrived,
            keeps_all=rows.is_changelog,
            identity=_places(names, identity),
            key_places=_places(names, key_of_rows) if rows.is_changelog and not by_number else (),
        )
        self._analysis.add_stage(stage)
        self._analysis.set_complete(self._state)
        items = self._items(names, lambda place: f"__column{place}", "__number")
        self._write(f"SELECT {items}, {ROW_KIND_COLUMN} FROM {quoted(stage.view_name)}")  # noqa: S608
        kinds = {"+I", "-D"} if not by_number else {"+I", "-U", "+U", *(("-D",) if rows.is_changelog else ())}
        if not by_number:
            key = key_of_rows
        elif key is not None and not is_one:
            key = (*key, self._ranking.column.lower())
        return self._relation("Rank", rows, names, ChangelogMode(frozenset(kinds)), key or ())

    def _items(self, names: tuple[str, ...], column: Callable[[int], str], number: str) -> str:
        """Return the columns of the SELECT, the number in its place."""
        items = (f"{column(place)} AS {quoted(name)}" for place, name in enumerate(names))
        return ", ".join(self._with_number(items, f"{number} AS {quoted(self._ranking.column)}"))

    def _with_number(self, items: Iterable[str], number: str) -> list[str]:
        numbered = list(items)
        numbered.insert(len(numbered) - self._after, number)
        return numbered

    def _write(self, query: str) -> None:
        """Make the SELECT another one."""
        outer = parse_expression(query)
        for name in list(self._node.args):
            self._node.set(name, None)
        for name, part in outer.args.items():
            self._node.set(name, part)

    def _view_name(self) -> str:
        return f"millrace_rank_{len(self._analysis.stages)}_{id(self._node):x}"

    def _relation(
        self, name: str, rows: Relation, names: tuple[str, ...], mode: ChangelogMode, key: tuple[str, ...]
    ) -> Relation:
        from pyspark.sql.types import IntegerType

        orders = ", ".join(map(str, self._ranking.orders))
        details = (
            f"partitionBy=[{', '.join(map(spark_sql, self._ranking.partition))}]",
            f"orderBy=[{orders}]",
            f"rankRange=[{self._bounds.first}, {self._bounds.last}]",
        )
        step = Step(name, details, mode, (rows.step,))
        return Relation(
            step,
            tuple(self._with_number(names, self._ranking.column)),
            {**rows.types, self._ranking.column.lower(): IntegerType()},
            key=key,
            states=frozenset({self._state}),
            has_one_row=not self._ranking.partition and self._bounds.first == self._bounds.last,
            origin="" if mode.is_insert_only else step.operation,
        )


def _places(names: Sequence[str], wanted: Collection[str]) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(names) if name.lower() in wanted)
