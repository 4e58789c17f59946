"""Regular joins with tables that change: rows are joined with all others, and joined again when one of them changes.

Columns of the joined tables get names of their own, so that the rest of the query reads one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.join_stage import JoinSide, JoinStage
from millrace_sql.planner.relations import Relation, Source, parse_expression, quoted, spark_sql
from millrace_sql.planner.steps import Step
from millrace_sql.planner.volatile import volatile_function

if TYPE_CHECKING:
    from millrace_sql.planner.query_text import QueryText

_JOINED = "__joined"
_KEPT = {"": (False, False), "LEFT": (True, False), "RIGHT": (False, True), "FULL": (True, True)}


def join_changes(
    analysis: Analysis, text: QueryText, node: exp.Select, sources: tuple[Source, ...]
) -> tuple[Source, ...]:
    """Return the sources of a SELECT, with those that are joined with changes as one, rewriting its tree.

    Raises:
        SqlError: Their join cannot be kept exactly.
    """
    while len(sources) > 1 and _is_regular(sources[0].relation, sources[1]):
        sources = (_Join(analysis, text, node, *sources[:2]).source(), *sources[2:])
    return sources


def _is_regular(left: Relation, source: Source) -> bool:
    right = source.relation
    has_changes = left.is_changelog or right.is_changelog or left.has_state or right.has_state
    return has_changes and source.as_of is None and not (left.is_static or right.is_static)


@dataclass(frozen=True)
class _Condition:
    """A condition of a join: expressions of both sides that are equal, and what is filtered afterwards."""

    left: list[exp.Expr]
    right: list[exp.Expr]
    others: list[exp.Expr]


class _Join:
    """A join of the first two sources of a SELECT."""

    def __init__(self, analysis: Analysis, text: QueryText, node: exp.Select, left: Source, right: Source) -> None:
        assert right.join is not None  # noqa: S101 - all but the first source have one
        self._analysis, self._text, self._node = analysis, text, node
        self._sides = (left, right)
        self._join = right.join
        self._kind = (self._join.side or "").upper()
        self._alias = f"{_JOINED}{len(analysis.stages)}"

    def source(self) -> Source:
        """Return the joined rows as a source."""
        self._check()
        condition = self._condition()
        self._node.set("expressions", [item for column in self._node.expressions for item in self._expanded(column)])
        self._sides = self._pruned(condition)
        self._check_columns(condition)
        for source in self._sides:
            self._analysis.asked |= source.relation.scans
            self._analysis.asked_states |= source.relation.states
        state = self._analysis.new_state()
        self._analysis.set_complete(state)
        self._analysis.is_rewritten = True
        key = self._key(condition)
        names = tuple(name for source in self._sides for name in _joined_names(source))
        stage = self._stage(condition, names, key)
        self._analysis.add_stage(stage)
        table = parse_expression(f"SELECT * FROM {quoted(stage.view_name)}").args["from_"].this  # noqa: S608
        table.set("alias", exp.TableAlias(this=exp.to_identifier(self._alias, quoted=True)))
        self._rename(names, condition)
        self._node.args["from_"].set("this", table)
        self._node.set("joins", self._node.args["joins"][1:])
        return Source(self._alias, self._relation(state, names, key), table)

    def _check(self) -> None:
        join, right = self._join, self._sides[1]
        if join.method or (join.kind or "").upper() not in {"", "INNER", "OUTER", "CROSS"}:
            kind = " ".join(filter(None, (join.method, join.side, join.kind))).upper()
            message = f"a {kind} JOIN of changes: write JOIN, LEFT JOIN, RIGHT JOIN or FULL JOIN with ON a.x = b.x"
            raise self._text.error(message, right.node)
        if len({source.alias.lower() for source in self._sides} - {""}) < 2:
            raise self._text.error("give the tables of a join different names: FROM a AS x JOIN b AS y", right.node)
        for source in self._sides:
            relation = source.relation
            if relation.columns is None or len({name.lower() for name in relation.columns}) < len(relation.columns):
                message = f"the columns of {source.alias} are not known before the query runs, or two have one name"
                raise self._text.error(f"{message}: name them", source.node)

    def _check_columns(self, condition: _Condition) -> None:
        """Check that the columns that are read have the same values whenever a row is joined."""
        for source, equal in zip(self._sides, (condition.left, condition.right), strict=True):
            compared = (column.name.lower() for item in equal for column in item.find_all(exp.Column))
            for name in (*map(str.lower, source.relation.columns or ()), *compared):
                if function := source.relation.volatile.get(name):
                    message = f"{name} AS {function} is something else whenever a row is joined again: leave it out"
                    raise self._text.error(message, source.node)

    def _condition(self) -> _Condition:
        """Return what is equal on both sides, and the other conditions."""
        condition = _Condition([], [], [])
        on = self._join.args.get("on")
        where = self._node.args.get("where")
        for name in self._join.args.get("using") or ():
            condition.left.append(exp.column(name.name, table=self._sides[0].alias))
            condition.right.append(exp.column(name.name, table=self._sides[1].alias))
        if self._join.args.get("using") and self._kind in {"RIGHT", "FULL"}:
            raise self._text.error(f"write ON for USING in a {self._kind} JOIN of changes", self._sides[1].node)
        if on is None and not condition.left and where is not None and not self._kind:
            on = where.this  # as in FROM a, b WHERE a.x = b.y
        for part in (on.flatten() if isinstance(on, exp.And) else [on]) if on is not None else ():
            sides = [self._side_of(term) for term in (part.this, part.expression)] if isinstance(part, exp.EQ) else []
            if sides in ([0, 1], [1, 0]):
                one, other = (part.this, part.expression) if sides == [0, 1] else (part.expression, part.this)
                condition.left.append(one)
                condition.right.append(other)
            elif self._join.args.get("on") is not None:
                condition.others.append(part)
        self._check_condition(condition)
        return condition

    def _check_condition(self, condition: _Condition) -> None:
        place = self._sides[1].node
        if not condition.left:
            message = "a join of changes needs a condition that compares both tables: JOIN b ON a.x = b.x"
            raise self._text.error(message, place)
        if condition.others and self._kind:
            message = (
                f"{spark_sql(condition.others[0])} in the condition of a {self._kind} JOIN of changes: only = between "
                "columns of the two tables can be kept; filter a table in a query of its own: JOIN (SELECT ... WHERE "
                "...) AS b"
            )
            raise self._text.error(message, place)
        for part in (*condition.left, *condition.right, *condition.others):
            if function := volatile_function(part, {}):
                message = f"{function} in the condition of a join of changes could join a row and not its deletion"
                raise self._text.error(f"{message}: join by columns of the rows", place)

    def _side_of(self, item: Any) -> int | None:
        """Return which side an expression reads; None for both, or neither."""
        sides = {self._column(column)[0] for column in item.find_all(exp.Column)}
        return sides.pop() if len(sides) == 1 else None

    def _column(self, column: Any) -> tuple[int, int] | tuple[None, None]:
        """Return side and place of a column; None for one of another table."""
        name, table = column.name.lower(), column.table.lower()
        places = [
            (side, [column_name.lower() for column_name in source.relation.columns or ()].index(name))
            for side, source in enumerate(self._sides)
            if (not table or table == source.alias.lower())
            and name in {column_name.lower() for column_name in source.relation.columns or ()}
        ]
        using = {identifier.name.lower() for identifier in self._join.args.get("using") or ()}
        if len(places) > 1 and name not in using:
            raise self._text.error(f"{column.name} is a column of both tables: write the name of one before it", column)
        return places[0] if places else (None, None)

    def _key(self, condition: _Condition) -> tuple[int, ...]:
        """Return the places of the columns that identify a joined row.

        They are the keys of both sides, or that of one which finds one partner at most.
        """
        places = []
        for number, (source, equal) in enumerate(zip(self._sides, (condition.left, condition.right), strict=True)):
            names = [name.lower() for name in source.relation.columns or ()]
            before = len(self._sides[0].relation.columns or ()) if number else 0
            key = source.relation.key
            compared = {item.name.lower() for item in equal if hasattr(item, "name") and item.key == "column"}
            places.append((tuple(before + names.index(name) for name in key), bool(key) and set(key) <= compared))
        (left, left_is_one), (right, right_is_one) = places
        if right_is_one and left and self._kind in {"", "LEFT"}:
            return left
        if left_is_one and right and self._kind in {"", "RIGHT"}:
            return right
        return (*left, *right) if left and right else ()

    def _stage(self, condition: _Condition, names: tuple[str, ...], key: tuple[int, ...]) -> JoinStage:

        kept_sides = _KEPT[self._kind]
        left, right = (
            self._side(source, equal, is_kept=is_kept)
            for source, equal, is_kept in zip(self._sides, (condition.left, condition.right), kept_sides, strict=True)
        )
        view = f"millrace_join_{len(self._analysis.stages)}_{id(self._node):x}"
        both = exp.Tuple(expressions=[exp.Subquery(this=left.query), exp.Subquery(this=right.query)])
        return JoinStage(view, both, names, left, right, len(condition.left), key)

    def _side(self, source: Source, equal: list[exp.Expr], *, is_kept: bool) -> JoinSide:
        relation, columns = source.relation, source.relation.columns or ()
        table = quoted(source.alias)
        items = [f"{table}.{quoted(name)}" for name in columns]
        items += [f"{spark_sql(item)} AS __key{place}" for place, item in enumerate(equal)]
        items += [f"{table}.{ROW_KIND_COLUMN}"] if relation.is_changelog else []
        query = parse_expression(f"SELECT {', '.join(items)} FROM x")  # noqa: S608 - of the parsed query
        inner = source.node.copy()
        inner.set("joins", None)
        query.args["from_"].set("this", inner)
        names = [name.lower() for name in columns]
        # An old result is the row that came out before; that of a table may have the metadata of a later message
        identity = () if relation.has_state or not relation.is_changelog else relation.key
        places = tuple(names.index(name) for name in identity)
        return JoinSide(query, len(columns), relation.is_changelog, places, is_kept)

    def _rename(self, names: tuple[str, ...], condition: _Condition) -> None:
        """Let the rest of the query read the columns of the joined rows."""
        others = [item.copy() for item in condition.others]
        if others:
            where = self._node.args.get("where")
            parts = [*([where.this] if where is not None else []), *others]
            self._node.set("where", exp.Where(this=exp.and_(*parts, copy=False)))
        for column in list(self._columns()):
            side, place = self._column(column)
            if side is None or place is None:
                continue
            offset = len(self._sides[0].relation.columns or ()) if side else 0
            renamed = exp.column(names[offset + place], quoted=True)
            if column.parent is self._node:
                renamed = exp.alias_(renamed, column.name, quoted=True)
            column.replace(renamed)

    def _columns(self) -> Iterator[Any]:
        """Yield the columns that the SELECT names outside of the join."""
        inner = [source.node for source in self._sides] + [self._join]
        for column in self._node.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is self._node and not _is_within(column, inner):
                yield column

    def _pruned(self, condition: _Condition) -> tuple[Source, Source]:
        """Return both sides with the columns that are read after the join, and the keys."""
        filtered = (column for item in condition.others for column in item.find_all(exp.Column))
        used = {self._column(column) for column in (*self._columns(), *filtered)}
        pruned = []
        for number, source in enumerate(self._sides):
            columns = source.relation.columns or ()
            used_names = (
                name
                for place, name in enumerate(columns)
                if (number, place) in used or name.lower() in source.relation.key
            )
            relation = replace(source.relation, columns=tuple(used_names) or self._first_column(source.relation))
            pruned.append(replace(source, relation=relation))
        return pruned[0], pruned[1]

    @staticmethod
    def _first_column(relation: Relation) -> tuple[str, ...]:
        """Return a column of rows of which only the number is read."""
        return next(((name,) for name in relation.columns or () if name.lower() not in relation.volatile), ())

    def _expanded(self, item: Any) -> Iterator[Any]:
        """Return the columns that a star means, or the column that is none."""
        if not item.is_star:
            yield item
            return
        star = item if isinstance(item, exp.Star) else item.this
        if star.args.get("replace") or star.args.get("rename"):
            raise self._text.error("name the columns of a join of changes", item)
        hidden = {name.name.lower() for name in star.args.get("except_") or ()}
        using = [name.name for name in self._join.args.get("using") or ()] if item is star else []
        sources = [source for source in self._sides if item is star or source.alias.lower() == item.table.lower()]
        if not sources:
            yield item
            return
        yield from (exp.column(name, table=self._sides[0].alias, quoted=True) for name in using)
        merged = {name.lower() for name in using}
        for source in sources:
            for name in source.relation.columns or ():
                if name.lower() not in hidden | merged:
                    yield exp.column(name, table=source.alias, quoted=True)

    def _relation(self, state: int, names: tuple[str, ...], key: tuple[int, ...]) -> Relation:
        left, right = (source.relation for source in self._sides)
        on = self._join.args.get("on")
        details = (
            f"joinType=[{self._kind or 'INNER'}]",
            *((f"where=[{spark_sql(on)}]",) if on is not None else ()),
        )
        step = Step("Join", details, ChangelogMode(frozenset({"+I", "-D"})), (left.step, right.step))
        columns = [name.lower() for name in left.columns or ()], [name.lower() for name in right.columns or ()]
        types = dict(
            zip(
                names,
                (side.types.get(name) for side, part in zip((left, right), columns, strict=True) for name in part),
                strict=True,
            )
        )
        return Relation(
            step,
            names,
            {name.lower(): type_ for name, type_ in types.items() if type_ is not None},
            key=tuple(names[place].lower() for place in key),
            states=frozenset({state}),
            origin=step.operation,
        )


def _joined_names(source: Source) -> Iterator[str]:
    """Yield the names of a side's columns after the join."""
    for name in source.relation.columns or ():
        yield name if source.alias.startswith(_JOINED) else f"{source.alias}.{name}"


def _is_within(item: Any, inner: list[Any]) -> bool:
    while item is not None:
        if any(item is node for node in inner):
            return True
        item = item.parent
    return False
