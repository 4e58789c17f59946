"""Deletions of all rows of a table."""

from __future__ import annotations

import json
import logging

import pytest

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import SchemaError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.router import Router
from millrace_cdc.routing.shared_targets import may_be_shared
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place, TableReport, TaskFindings
from millrace_cdc.runtime.truncation import Truncation, TruncationPolicy
from millrace_cdc.table_id import table_id
from millrace_cdc.transforms.transform import Transforms

ALL = frozenset(SCHEMA_CHANGES)
WITHOUT = ALL - {"truncate.table"}
PLACE = Place("t", 0, 7)
REPORT = TaskFindings({"d.a": TableReport(partitions={("t", 0)}, truncations=[PLACE])})


def policy(behavior="evolve", accepted=ALL, supported=ALL, *, routes=(), is_distributed=False):
    rules = [RouteRule(source_table=source, sink_table=sink) for source, sink in routes]
    planner = TablePlanner(Router(rules, "ALL_MATCH"), Transforms([]), None)
    settings = EvolutionSettings(behavior, accepted, supported)
    parser = ParserSettings("debezium-json", DebeziumInferenceOptions(), has_distributed_tables=is_distributed)
    return TruncationPolicy(settings, planner, parser)


def state_of(*tables):
    return SchemaState({name: SchemaTracker(name) for name in tables})


def applied(policy, reports, *tables):
    return policy.applied(policy.noted(state_of(*tables), reports), reports)


def test_the_last_one_empties_the_tables_that_rows_go_to():
    earlier = TaskFindings({"d.a": TableReport(truncations=[Place("t", 0, 3)])})
    found = applied(policy(routes=[("d.a", "x.a"), ("d.a", "y.a")]), [REPORT, earlier], "d.a")
    assert found == (Truncation("d.a", PLACE, ("x.a", "y.a")),)


def test_that_of_a_table_without_columns_waits_for_the_table():
    truncations = policy()
    state = truncations.noted(SchemaState(), [REPORT])
    assert truncations.applied(state, [REPORT]) == ()
    later = SchemaState.from_text(state.next_batch().to_text(), 100)
    later.sources["d.a"] = SchemaTracker("d.a")
    later = truncations.noted(later, [])
    assert truncations.applied(later, []) == (Truncation("d.a", PLACE, ("d.a",)),)
    assert truncations.applied(truncations.noted(later.next_batch(), []), []) == ()


SHARED = "its route may bring rows of other tables to the same table"
SEVERAL = "its changes may be in several partitions, so that nothing says which came before"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"accepted": WITHOUT}, "truncate.table is not included in its schema changes"),
        ({"behavior": "ignore"}, "truncate.table is not included in its schema changes"),
        ({"behavior": "lenient", "supported": WITHOUT}, "it cannot apply truncate.table"),
        ({"behavior": "try_evolve", "is_distributed": True}, SEVERAL),
        ({"behavior": "lenient", "routes": [(r"d.\.*", "x.all")]}, SHARED),
        ({"behavior": "lenient", "routes": [(r"\.*.(\.*)", "x.$1")]}, SHARED),
        ({"behavior": "lenient", "routes": [("d.a", "x.all"), ("e.b", "x.all")]}, SHARED),
    ],
)
def test_what_is_not_applied_is_told(caplog, given, reason):
    with caplog.at_level(logging.WARNING, "millrace.pipelines"):
        assert applied(policy(**given), [REPORT], "d.a") == ()
    assert caplog.messages == [f"table 'd.a' was truncated at {PLACE}, but the sink keeps its rows: {reason}"]


@pytest.mark.parametrize(
    "routes", [[], [(r"d.(\.*)", "x.$1")], [("d.a", "x.a"), ("d.b", "x.b")], [(r"e.\.*", "x.all")]]
)
def test_routes_that_keep_tables_apart_are_no_obstacle(routes):
    (found,) = applied(policy("lenient", routes=routes), [REPORT], "d.a", "d.b")
    assert found.table == "d.a"


def test_routes_with_a_symbol_keep_the_tables_of_one_schema_apart():
    def route(source):
        return Router([RouteRule(source_table=source, sink_table="x.<>", replace_symbol="<>")]).routes

    table, target = table_id("d.a"), table_id("x.a")
    assert not may_be_shared(route(r"d.\.*"), table, target)
    assert may_be_shared(route(r"\.*.\.*"), table, target)


@pytest.mark.parametrize(("behavior", "supported"), [("evolve", WITHOUT), ("exception", ALL)])
def test_a_pipeline_that_must_not_go_on_without_ends(behavior, supported):
    with pytest.raises(
        SchemaError, match=r"but the sink keeps its rows: .*\. To continue without it, exclude truncate\.table"
    ):
        applied(policy(behavior, supported=supported), [REPORT], "d.a")


@pytest.mark.parametrize("is_last", [True, False])
def test_a_second_partition_ends_the_pipeline_whenever_it_comes(is_last):
    other = TaskFindings({"d.a": TableReport(partitions={("t", 1)})})
    reports = [REPORT, other] if is_last else [other, REPORT]
    truncations = policy("lenient")
    state = truncations.noted(state_of("d.a"), reports[:1])
    with pytest.raises(SchemaError, match=r"in several partitions \(t-0, t-1\).*debezium-json.distributed-tables"):
        truncations.noted(state.next_batch(), reports[1:])


def test_a_second_table_with_the_same_target_ends_the_pipeline_whenever_it_comes():
    truncations = policy("lenient", routes=[("d.a", "d.b")])
    with pytest.raises(SchemaError, match=r"rows of 'd\.b' go to the same table, too: give one of them another table"):
        truncations.noted(state_of("d.a", "d.b"), [REPORT])
    state = truncations.noted(state_of("d.a"), [REPORT]).next_batch()
    state.sources["d.b"] = SchemaTracker("d.b")
    with pytest.raises(SchemaError, match="go to the same table, too"):
        truncations.noted(state, [])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ParserSettings("debezium-json", DebeziumInferenceOptions()),
            {"op": "t", "before": None, "after": None, "source": {"db": "d", "table": "a"}},
        ),
        (
            ParserSettings("canal-json", CanalInferenceOptions()),
            {"type": "TRUNCATE", "isDdl": True, "sql": "TRUNCATE a", "data": None, "database": "d", "table": "a"},
        ),
    ],
)
def test_messages_say_so(settings, message):
    parser = ChangeParser(settings, {})
    for offset in (3, 7):
        assert parser.changes(PLACE._replace(offset=offset), json.dumps(message).encode()) == []
    assert parser.report.tables["d.a"].truncations == [PLACE]
