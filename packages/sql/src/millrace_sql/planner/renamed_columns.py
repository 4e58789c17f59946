"""Relations whose columns get other names: those of common table expressions and of views."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from millrace_sql.planner.relations import Relation

NAMES_OF_NUMBERED = "the query of ROW_NUMBER() names its columns itself: write SELECT a AS b, and no list of columns"
"""The error of a list of names beside a query of ROW_NUMBER()."""


def alias_of(name: str, columns: tuple[str, ...]) -> exp.TableAlias:
    """Return the alias of a table whose columns have names of their own."""
    identifiers = [exp.to_identifier(column, quoted=True) for column in columns]
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=identifiers)


def renamed(cte: exp.CTE, relation: Relation) -> Relation:
    """Return a common table expression's relation under the column names that it lists, which get that of row kinds."""
    alias = cte.args["alias"]
    names = tuple(column.name for column in alias.columns)
    if not names:
        return relation
    if relation.ranking is not None:
        raise relation.ranking.text.error(NAMES_OF_NUMBERED, cte)
    if relation.is_changelog:
        alias.set("columns", [*alias.columns, exp.to_identifier("__row_kind")])
    return with_names(relation, names)


def with_names(relation: Relation, names: tuple[str, ...]) -> Relation:
    """Return a relation whose columns have other names, in their order."""
    if relation.columns is None or len(relation.columns) != len(names):
        # Which of the names are volatile is not known: all are
        volatile = {name.lower(): function for function in relation.volatile.values() for name in names}
        unknown = replace(relation, volatile=volatile, processing_time=frozenset())
        return replace(unknown, columns=names, types={}, key=(), event_time=frozenset())
    renamed = {old.lower(): new.lower() for old, new in zip(relation.columns, names, strict=True)}
    return replace(
        relation,
        columns=names,
        volatile={renamed[name]: function for name, function in relation.volatile.items() if name in renamed},
        processing_time=frozenset(renamed[name] for name in relation.processing_time if name in renamed),
        types={renamed[name]: type_ for name, type_ in relation.types.items() if name in renamed},
        key=tuple(renamed[name] for name in relation.key),
        event_time=frozenset(renamed[name] for name in relation.event_time if name in renamed),
    )
