"""Describe an INSERT to reporters of lineage: its text, its table, and from which columns its columns are computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from millrace.api.query_lineage import Dataset, LineageColumn, QueryLineage, kafka_dataset
from millrace_sql.execution.tables import BoundTable
from millrace_sql.planner.model import QueryPlan, Scan

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.lineage import Node

_SERVERS, _TOPIC = "properties.bootstrap.servers", "topic"


def insert_lineage(table: BoundTable, statement: str, plan: QueryPlan, columns: Sequence[str]) -> QueryLineage:
    """Describe an INSERT.

    Args:
        table: The table that it writes.
        statement: Its text, of which hints are left out: they may hold secrets.
        plan: Its query.
        columns: The columns that the query fills, in its order.
    """
    output = dataset_of(table)
    return QueryLineage(
        "SQL",
        re.sub(r"/\*\+.*?\*/\s*", "", statement, flags=re.DOTALL),
        lambda: () if output is None else (output,),
        partial(column_lineage, plan, columns),
    )


def dataset_of(table: BoundTable) -> Dataset | None:
    """Name what a table stands for, by OpenLineage's rules; None where they have none for it."""
    options = table.description.options
    topic = options.get(_TOPIC, "")
    if options.get(_SERVERS) and topic and ";" not in topic:
        return kafka_dataset(options[_SERVERS], topic)
    path = options.get("path", "")
    return Dataset("file", path.removeprefix("file://")) if path.startswith(("/", "file:///")) else None


def column_lineage(plan: QueryPlan, columns: Sequence[str]) -> Mapping[str, Sequence[LineageColumn]]:
    """Return the input columns of each column.

    A column has none where it is computed by what runs before Spark's query, such as a state that Python keeps, and
    where sqlglot cannot follow it.
    """
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.qualify import qualify

    schema = {
        scan.view_name: {column.name: column.type.simpleString() for column in scan.table.columns}
        for scan in plan.scans
    }
    try:
        query = qualify(parse_one(plan.sql, dialect="spark"), schema=schema, dialect="spark")
    except SqlglotError:
        return {}
    names = query.named_selects
    if len(names) != len(columns):
        return {}
    scans = {scan.view_name.lower(): scan for scan in plan.scans}
    return {column: _inputs(name, query, scans) for name, column in zip(names, columns, strict=True)}


def _inputs(name: str, query: exp.Expression, scans: Mapping[str, Scan]) -> list[LineageColumn]:
    from sqlglot.errors import SqlglotError
    from sqlglot.lineage import lineage

    try:
        node = lineage(name, query, {}, dialect="spark")
    except (SqlglotError, ValueError, KeyError):
        return []
    return sorted(set(_leaves(node, scans)))


def _leaves(node: Node, scans: Mapping[str, Scan]) -> Iterator[LineageColumn]:
    from sqlglot import exp

    for leaf in node.walk():
        if leaf.downstream or not isinstance(leaf.expression, exp.Table):
            continue
        scan = scans.get(leaf.expression.name.lower())
        origin = None if scan is None else scan.table.origin
        dataset = dataset_of(origin) if isinstance(origin, BoundTable) else None
        if dataset is not None:
            yield LineageColumn(dataset, leaf.name.rpartition(".")[2].strip('"`'))
