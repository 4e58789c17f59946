"""Walk a query from its tables to its result, and rewrite what Spark cannot run as it is."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from millrace.contracts import ChangelogMode
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.batch_select import plan_batch_select
from millrace_sql.planner.model import InputTable, Scan, TableLookup
from millrace_sql.planner.query_text import QueryText, parse_query
from millrace_sql.planner.relations import INSERT_ONLY, Relation, Source, quoted
from millrace_sql.planner.renamed_columns import NAMES_OF_NUMBERED, alias_of, renamed, with_names
from millrace_sql.planner.session_windows import group_by_sessions
from millrace_sql.planner.steps import Step
from millrace_sql.planner.stream_select import plan_stream_select
from millrace_sql.planner.stream_union import distinct_unions, plan_stream_union
from millrace_sql.planner.temporal_joins import check_times
from millrace_sql.planner.volatile import computed_columns
from millrace_sql.planner.window_stages import stage_windows
from millrace_sql.script_texts import Identifier

Names = Mapping[str, Relation]
"""The common table expressions that a query can name, in lower case."""


@dataclass
class QueryWalk(Analysis):
    """A walk through a query, which collects the findings of its parts."""

    def query(self, text: QueryText, node: exp.Expr, tables: TableLookup, names: Names) -> Relation:
        """Analyse a query, rewriting its tree in place."""
        for cte in node.args["with_"].expressions if node.args.get("with_") else ():
            relation = self.query(text, cte.this, tables, names)
            names = {**names, cte.alias.lower(): renamed(cte, relation)}
            self._named_queries[cte.alias.lower()] = cte
        if isinstance(node, exp.Subquery):
            self._refuse_modifiers(text, node)
            return self.query(text, node.this, tables, names)
        if isinstance(node, exp.SetOperation):
            sides = tuple(self.query(text, side, tables, names) for side in (node.left, node.right))
            if self.streaming:
                return plan_stream_union(self, text, node, sides)
            step = Step(
                "Union" if isinstance(node, exp.Union) else type(node).__name__,
                (),
                INSERT_ONLY,
                tuple(side.step for side in sides),
            )
            return Relation(step, sides[0].columns)
        if not isinstance(node, exp.Select):
            return Relation(Step("Values", (), INSERT_ONLY), is_static=True)
        group_by_sessions(self, text, node)
        sources = tuple(self._sources(text, node, tables, names))
        check_times(text, sources)
        nested = tuple(self.query(text, query, tables, names) for query in _nested_queries(node))
        if self.streaming:
            relation = plan_stream_select(self, text, node, sources, nested)
            return stage_windows(self, node, relation)
        return plan_batch_select(self, text, node, sources)

    def _refuse_modifiers(self, text: QueryText, node: exp.Expr) -> None:
        if self.streaming and (node.args.get("order") or node.args.get("limit")):
            raise text.error(
                "a stream cannot be sorted or cut: leave out ORDER BY and LIMIT, or run the query as a batch", node
            )

    def _sources(self, text: QueryText, node: exp.Select, tables: TableLookup, names: Names) -> Iterator[Source]:
        from_ = node.args.get("from_")
        joins: list[exp.Join] = node.args.get("joins") or []
        for item, join in (*(((from_.this, None),) if from_ else ()), *((join.this, join) for join in joins)):
            yield from self._source(text, item, join, tables, names)

    def _source(
        self, text: QueryText, node: exp.Expr, join: exp.Join | None, tables: TableLookup, names: Names
    ) -> Iterator[Source]:

        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            as_of = text.temporal.get(node.parts[-1].meta.get("end", -1))
            relation = self._table(text, node, tables, names)
            yield Source(node.alias_or_name, relation, node, join, as_of)
        elif isinstance(node, exp.Subquery):
            yield Source(node.alias, self.query(text, node.this, tables, names), node, join)
        else:
            # A table function, VALUES or a lateral view: Spark computes it from constants, or from the row beside it
            yield Source(node.alias_or_name, Relation(Step("Values", (), INSERT_ONLY), is_static=True), node, join)
        for inner in node.args.get("joins") or ():
            yield from self._source(text, inner.this, inner, tables, names)

    def _table(self, text: QueryText, node: exp.Table, tables: TableLookup, names: Names) -> Relation:
        parts = tuple(part.name for part in node.parts)
        if len(parts) == 1 and parts[0].lower() in names:
            return names[parts[0].lower()]
        position = text.position_of(node)
        identifier = Identifier(parts, position) if position else Identifier(parts)
        last = node.parts[-1].meta["end"]
        self.hinted.add((id(text), last))
        table = tables(identifier, text.hints.get(last, {}))
        if table.view is not None:
            return self._view(text, node, table)
        view_name, relation = self._scan(table, is_lookup=last in text.temporal)
        self._replace(text, node, quoted(view_name), view_name)
        return relation

    def _replace(self, text: QueryText, node: exp.Table, replacement: str, view_name: str) -> None:
        """Put the generated name of a scan into text and tree, under the name that the query knows."""
        name = node.parts[-1].name
        has_alias = bool(node.alias) or bool(node.args.get("sample"))
        alias = "" if has_alias else f" AS {quoted(name)}"
        self.edit(text, node.parts[0].meta["start"], node.parts[-1].meta["end"] + 1, replacement + alias)
        node.set("db", None)
        node.set("catalog", None)
        node.set("this", exp.to_identifier(view_name, quoted=True))
        if not has_alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))

    def _scan(self, table: InputTable, *, is_lookup: bool) -> tuple[str, Relation]:
        number = len(self.scans)
        # Spark takes no other characters in names of views, such as those of topics
        name = re.sub(r"\W", "_", table.identifier.parts[-1], flags=re.ASCII)
        view_name = f"millrace_{uuid.uuid4().hex[:12]}_{name}"
        needs_old = "-U" in table.changelog_mode.row_kinds and (
            not self.streaming
            or is_lookup
            or not table.primary_key
            or number in self.update_before
            # An update may change the key, whose old row nothing else takes away
            or table.raw_changelog_mode is None
        )
        self.scans.append(Scan(view_name, table, needs_old, is_lookup=self.streaming and is_lookup))
        mode = table.changelog_mode if self.streaming and not is_lookup else INSERT_ONLY
        if not needs_old:
            mode = ChangelogMode(mode.row_kinds - {"-U"})
        shown = ", ".join(table.identifier.parts)
        fields = f"fields=[{', '.join(column.name for column in table.columns)}]"
        step = Step("LookupTable" if is_lookup else "TableSourceScan", (f"table=[[{shown}]]", fields), mode)
        origin = "" if mode.is_insert_only else step.operation
        if table.raw_changelog_mode is not None and not mode.is_insert_only:
            raw = replace(step, mode=table.raw_changelog_mode)
            step = Step("ChangelogNormalize", (f"key=[{', '.join(table.primary_key)}]",), mode, (raw,))
        volatile = computed_columns(table.columns)
        return view_name, Relation(
            step,
            tuple(column.name for column in table.columns),
            {column.name.lower(): column.type for column in table.columns},
            frozenset(column.name.lower() for column in table.columns if column.is_event_time),
            tuple(name.lower() for name in table.primary_key),
            frozenset() if mode.is_insert_only else frozenset({number}),
            is_static=table.is_static or is_lookup,
            origin=origin,
            volatile=volatile.functions,
            processing_time=volatile.processing_time,
        )

    def _view(self, text: QueryText, node: exp.Table, table: InputTable) -> Relation:

        assert table.view is not None  # noqa: S101 - the caller asked
        inner = parse_query(
            table.view.query,
            table.view.tables,
            time_zone=self.time_zone,
            is_spark=text.is_spark,
            functions=self.functions,
        )
        if self.streaming:
            inner = replace(inner, tree=distinct_unions(inner.tree))
        outer, self._named_queries = self._named_queries, {}
        relation = self.query(inner, inner.tree, table.view.tables, {})
        self._named_queries = outer
        self.check_hints(inner)
        name, columns = node.parts[-1].name, table.view.columns
        body = f"({self.text_of(inner)})"
        subquery: Any = exp.Subquery(this=inner.tree)
        if columns and relation.ranking is not None:
            raise text.error(NAMES_OF_NUMBERED, node)
        if columns:
            relation = with_names(relation, columns)
            names = (*columns, *(("__row_kind",) if relation.is_changelog else ()))
            renamed = f"{body} AS {quoted(name)}({', '.join(map(quoted, columns))})"
            body = f"(SELECT * FROM {renamed})"  # noqa: S608 - a query of the user's, which Spark parses
            subquery.set("alias", alias_of(name, names))
            subquery = exp.Subquery(this=exp.select("*").from_(subquery))
        has_alias = bool(node.alias)
        subquery.set("alias", node.args.get("alias") if has_alias else alias_of(name, ()))
        self.edit(
            text,
            node.parts[0].meta["start"],
            node.parts[-1].meta["end"] + 1,
            body if has_alias else f"{body} AS {quoted(name)}",
        )
        subquery.set("joins", node.args.get("joins"))
        node.replace(subquery)
        return relation


def _nested_queries(node: exp.Select) -> Iterator[exp.Expr]:
    """Yield the queries within a query's expressions, such as that of IN; not those of FROM and WITH."""
    waiting: list[exp.Expr] = []
    for name, value in node.args.items():
        if name in {"from_", "with_"}:
            continue
        items = value if isinstance(value, list) else [value]
        waiting += [part for item in items if isinstance(item, exp.Expression) for part in _expressions_of(item)]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, exp.Query) and not isinstance(item, exp.Subquery):
            yield item
        else:
            waiting += list(item.iter_expressions())


def _expressions_of(item: exp.Expr) -> Iterator[exp.Expr]:

    if isinstance(item, exp.Join):
        yield from (item.args["on"],) if isinstance(item.args.get("on"), exp.Expression) else ()
    else:
        yield item
