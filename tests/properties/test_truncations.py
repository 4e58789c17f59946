"""Deletions of all rows: the final tables are the same wherever micro-batches end."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import SchemaError
from millrace_catalog.inference import DebeziumInferenceOptions
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place
from millrace_cdc.runtime.truncation import Truncation, TruncationPolicy
from millrace_cdc.transforms.transform import Transforms

ALL = frozenset(SCHEMA_CHANGES)
PARSER = ParserSettings("debezium-json", DebeziumInferenceOptions(), has_distributed_tables=False)
TABLES = ["a.x", "a.y", "b.x"]
PARTITIONS = 2
ROUTES = st.sampled_from(
    [
        [],
        [(r"a.(\.*)", "ods.$1")],
        [(r"\.*.(\.*)", "ods.$1")],
        [(r"a.\.*", "ods.all")],
        [("a.x", "ods.one"), ("a.y", "ods.one")],
        [("a.x", "b.x")],
    ]
)
STREAM = st.lists(
    st.tuples(st.sampled_from(TABLES), st.sampled_from(["row", "row", "truncate"]), st.sampled_from([0, 0, 0, 1])),
    max_size=8,
)


class Run:
    """A run of a pipeline into tables in memory, which had a row before its start."""

    def __init__(self, behavior: Any, routes: list[tuple[str, str]]) -> None:
        rules = [RouteRule(source_table=source, sink_table=target) for source, target in routes]
        self.planner = TablePlanner(Router(rules), Transforms([]), None)
        settings = EvolutionSettings(behavior, ALL, ALL)
        self.evolution = SchemaEvolution(settings, self.planner)
        self.truncations = TruncationPolicy(settings, self.planner, PARSER)
        self.state = SchemaState()
        self.sink: dict[str, Counter[Any]] = {}

    def process(self, messages: list[tuple[Place, str, str]]) -> None:
        before = SchemaState.from_text(self.state.next_batch().to_text(), 100)
        parser = ChangeParser(PARSER, TableSchemas().of(before.sources))
        changes = []
        for place, table, kind in messages:
            source = dict(zip(("db", "table"), table.split("."), strict=True))
            value = {"op": "t", "source": source} if kind == "truncate" else {"op": "c", "source": source}
            found = parser.changes(place, json.dumps(value | {"after": {"at": str(place)}}).encode())
            report = parser.report.tables[table]
            if found:
                # As the parser of batches counts them
                report.partitions.add(place[:2])
                changes.append((place, table))
        reports = [parser.report]
        state = self.truncations.noted(self.evolution.evolve(before, reports), reports)
        applied = self.truncations.applied(state, reports)
        for target in {target for each in applied for target in each.targets}:
            self.sink[target] = Counter()
        for place, table in changes:
            if survives(applied, table, place):
                for target in self.planner.targets(table):
                    self.sink.setdefault(target, Counter({"old": 1}))[table, place] += 1
        self.state = state


def survives(truncations: tuple[Truncation, ...], table: str, place: Place) -> bool:
    return all(each.table != table or each.place[:2] != place[:2] or each.place < place for each in truncations)


def outcome(run: Run, batches: list[list[tuple[Place, str, str]]]) -> Any:
    try:
        for batch in batches:
            run.process(batch)
    except SchemaError:
        return "refused"
    return {name: rows for name, rows in run.sink.items() if rows}


@given(STREAM, ROUTES, st.sampled_from(["lenient", "try_evolve", "evolve"]), st.data())
def test_every_division_into_micro_batches_gives_the_same_tables(stream, routes, behavior, data):
    logs: list[list[tuple[Place, str, str]]] = [[] for _ in range(PARTITIONS)]
    for table, kind, partition in stream:
        logs[partition].append((Place("t", partition, len(logs[partition])), table, kind))
    at_once = outcome(Run(behavior, routes), [[message for log in logs for message in log]])
    batches, rest = [], [list(log) for log in logs]
    while any(rest):
        counts = [data.draw(st.integers(0, len(log))) for log in rest]
        batches.append([message for log, n in zip(rest, counts, strict=True) for message in log[:n]])
        rest = [log[n:] for log, n in zip(rest, counts, strict=True)]
        if not sum(counts):
            batches.append([message for log in rest for message in log])
            rest = []
    event("refused" if at_once == "refused" else f"{len(batches)} micro-batches")
    assert outcome(Run(behavior, routes), batches) == at_once
