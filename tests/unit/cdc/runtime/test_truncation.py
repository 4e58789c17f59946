"""Deletions of all rows of a table."""

from __future__ import annotations

import json
import logging

import pytest

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import SchemaError
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser, ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place, TableReport, TaskReport
from millrace_cdc.runtime.truncation import Truncation, TruncationPolicy
from millrace_cdc.transforms.transform import Transforms

ALL = frozenset(SCHEMA_CHANGES)
WITHOUT = ALL - {"truncate.table"}
PLACE = Place("t", 0, 7)
REPORT = TaskReport({"d.a": TableReport(partitions={("t", 0)}, truncations=[PLACE])})


def policy(behavior="evolve", accepted=ALL, supported=ALL, *, routes=(), is_distributed=False):
    planner = TablePlanner(Router(routes, "ALL_MATCH"), Transforms([]), None)
    settings = EvolutionSettings(behavior, accepted, supported)
    return TruncationPolicy(settings, planner, has_distributed_tables=is_distributed)


def test_the_last_one_empties_the_tables_that_rows_go_to():
    earlier = TaskReport({"d.a": TableReport(truncations=[Place("t", 0, 3)])})
    routes = [RouteRule(source_table="d.a", sink_table="x.a"), RouteRule(source_table="d.a", sink_table="y.a")]
    found = policy(routes=routes).applied(["d.a"], [REPORT, earlier])
    assert found == (Truncation("d.a", PLACE, ("x.a", "y.a")),)


def test_a_table_without_rows_stays_empty():
    assert policy().applied([], [REPORT]) == ()


OTHER = TaskReport({"d.a": TableReport(partitions={("t", 1)})})
ROUTES = [RouteRule(source_table=r"d.\.*", sink_table="x.all")]
SEVERAL = "its changes are in several partitions, so that nothing says which came before"


@pytest.mark.parametrize(
    ("given", "reports", "reason"),
    [
        ({"accepted": WITHOUT}, [REPORT], "truncate.table is not included in its schema changes"),
        ({"behavior": "ignore"}, [REPORT], "truncate.table is not included in its schema changes"),
        ({"behavior": "lenient", "supported": WITHOUT}, [REPORT], "it cannot apply truncate.table"),
        ({"behavior": "try_evolve", "is_distributed": True}, [REPORT], SEVERAL),
        ({"behavior": "lenient"}, [REPORT, OTHER], SEVERAL),
        ({"behavior": "lenient", "routes": ROUTES}, [REPORT], "rows of 'd.b' are in them too"),
    ],
)
def test_what_is_not_applied_is_told(caplog, given, reports, reason):
    with caplog.at_level(logging.WARNING, "millrace.pipelines"):
        assert policy(**given).applied(["d.a", "d.b"], reports) == ()
    assert caplog.messages == [f"table 'd.a' was truncated at {PLACE}, but the sink keeps its rows: {reason}"]


@pytest.mark.parametrize(("behavior", "supported"), [("evolve", WITHOUT), ("exception", ALL)])
def test_a_pipeline_that_must_not_go_on_without_ends(behavior, supported):
    with pytest.raises(
        SchemaError, match=r"but the sink keeps its rows: .*\. To continue without it, exclude truncate\.table"
    ):
        policy(behavior, supported=supported).applied(["d.a"], [REPORT])


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
        assert parser.change(PLACE._replace(offset=offset), json.dumps(message).encode()) is None
    assert parser.report.tables["d.a"].truncations == [PLACE]
