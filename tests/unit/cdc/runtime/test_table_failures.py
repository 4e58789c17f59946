"""Tables of the source that a failure of the sink pauses, and changes that wait for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from millrace.errors import SchemaError, TableFailedError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference.options import DebeziumInferenceOptions
from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.errors import FunctionFailedError
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.transforms.transform import Transforms

TABLES = ("a_1", "a_2", "b", "bad")
ROUTES = [
    RouteRule(source_table=table, sink_table=target)
    for table, target in [("a_1", "a"), ("a_2", "a"), ("a_2", "b"), ("bad", "malformed")]
]


def tracker(name):
    made = SchemaTracker(name, "continuous", 10)
    made.create(parse_schema("id BIGINT"), ())
    return made


def failures(*, pauses=True):
    parser = ParserSettings("debezium-json", DebeziumInferenceOptions(), pauses=pauses, malformed_table="bad")
    return TableFailures(TablePlanner(Router(ROUTES), Transforms(()), None), parser)


def state(**given):
    return SchemaState({name: tracker(name) for name in TABLES}, {name: tracker(name) for name in "ab"}, **given)


def failure(table="a"):
    error = SchemaError(f"{table} does not fit")
    error.failed_table = table
    return error


def test_all_tables_are_paused_that_go_to_the_one_that_failed():
    before = state(paused={"a_2": "earlier"})
    after = failures().pause(before, failure(), is_change=False)
    assert after.paused == {"a_1": "a does not fit", "a_2": "earlier"}
    assert (after.unapplied, before.paused) == (frozenset(), {"a_2": "earlier"})


def test_changes_that_failed_wait_until_a_table_goes_on_and_come_then():
    after = failures().pause(state(), failure(), is_change=True)
    assert [change.table for change in after.changes()] == ["b"]
    text = after.to_text()
    later = SchemaState.from_text(text, 10).next_batch()
    assert (later.applied, later.changes()) == ({"a": 0, "b": 1}, ())
    assert failures().without_waiting(replace(later, paused={"a_2": ""})).unapplied == {"a"}
    resumed = failures().without_waiting(replace(later, paused={"b": ""}))
    assert [change.table for change in resumed.changes()] == ["a"]
    assert resumed.next_batch().applied == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("error", "pauses"),
    [
        (SchemaError("no table is to blame"), True),
        (ConnectionError("the database is gone"), True),
        (failure(), False),
        (failure("malformed"), True),
        (failure("of nobody"), True),
    ],
)
def test_other_failures_end_the_pipeline(error, pauses):
    with pytest.raises(type(error)) as raised:
        failures(pauses=pauses).pause(state(), error, is_change=False)
    assert raised.value is error


def test_a_row_that_failed_on_an_executor_names_its_table():
    row = TableFailedError("b", "message in topic 't': it has no primary key")
    of_spark = RuntimeError(f"Traceback ...\nmillrace.errors.TableFailedError: {row}\n\tat org.apache.spark...")
    after = failures().pause(state(), of_spark, is_change=False)
    assert after.paused == dict.fromkeys(
        ["a_2", "b"], "table 'b' of the sink: message in topic 't': it has no primary key"
    )


def test_a_function_that_failed_on_an_executor_pauses_the_table_of_its_row_alone():
    failed = FunctionFailedError("a_2", "transform of a_2: share(rate) fails: ZeroDivisionError: division by zero")
    of_spark = RuntimeError(
        f"Traceback ...\nmillrace_cdc.errors.FunctionFailedError: {failed}\n\tat org.apache.spark..."
    )
    sentence = "table 'a_2': transform of a_2: share(rate) fails: ZeroDivisionError: division by zero"
    for error in (failed, of_spark):
        after = failures().pause(state(paused={"b": "earlier"}), error, is_change=False)
        assert after.paused == {"b": "earlier", "a_2": sentence}
        with pytest.raises(type(error)):
            failures(pauses=False).pause(state(), error, is_change=False)
