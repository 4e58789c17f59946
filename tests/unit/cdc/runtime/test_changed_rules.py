"""Restarts of a pipeline with other rules and the same checkpoint."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import SchemaError
from millrace_catalog.inference import DebeziumInferenceOptions
from millrace_cdc.connectors.values.lines import schema_change_line
from millrace_cdc.definitions.rules import RouteRule, TransformRule, rules_digest
from millrace_cdc.errors import PipelineError
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.micro_batch_states import MicroBatchStates
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.sink_tables import pending_changes
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.runtime.task_reports import Place
from millrace_cdc.runtime.truncation import TruncationPolicy
from millrace_cdc.transforms.transform import Transforms

ALL = frozenset(SCHEMA_CHANGES)
NARROW = {"projection": "id, v"}
BY_ID = {"primary_keys": ("id",)}


class Texts:
    """Texts of states by micro-batch, instead of files."""

    def __init__(self):
        self.texts: dict[int, str] = {}

    def load(self, batch):
        return self.texts.get(batch)

    def has(self, batch):
        return batch in self.texts

    def load_initial(self):
        return self.load(-1)

    def load_before(self, batch):
        earlier = [each for each in self.texts if 0 <= each < batch]
        return self.texts[max(earlier)] if earlier else None

    def save(self, batch, text):
        assert batch not in self.texts
        self.texts[batch] = text

    def amend(self, batch, text):
        self.texts[batch] = text


class Columns:
    """Spark analyzes expressions; there are only those that cast a column."""

    def columns(self, table, columns, transform):
        return type(columns)(tuple(each for each in columns if each.name in [c.name for c in transform.columns]))


class Run:
    """A run of a pipeline with a checkpoint; its sink keeps the statements of its schema changes."""

    def __init__(self, checkpoint, *, routes=(), pauses=False, request=NO_REQUEST, supported=ALL, **transform):
        transforms = [TransformRule(source_table=r"\.*.\.*", **transform)] if transform else []
        routes = [RouteRule(source_table=source, sink_table=sink) for source, sink in routes]
        self.planner = TablePlanner(Router(routes), Transforms(transforms), Columns())
        rules = rules_digest(routes, transforms)
        settings = EvolutionSettings("lenient", ALL, supported, rules=rules)
        self.evolution = SchemaEvolution(settings, self.planner, pauses=pauses)
        self.parser = ParserSettings("debezium-json", DebeziumInferenceOptions(), pauses=pauses)
        self.checkpoint = PipelineStates(checkpoint, settings, self.planner)
        failures = TableFailures(self.planner, self.parser)
        truncations = TruncationPolicy(settings, self.planner, self.parser)
        self.states = MicroBatchStates(self.checkpoint, self.evolution, failures, truncations, rules, request)
        self.applied: list[str] = []

    def batch(self, number, *messages):
        """Do what a micro-batch does before it writes."""
        before = self.states.before(number)
        parser = ChangeParser(self.parser, TableSchemas().of(before.sources), before.paused)
        for offset, message in enumerate(messages):
            parser.changes(Place("topic", 0, offset), message)
        state = self.states.after(before, [parser.report], number)
        changes = pending_changes(state, self.planner, ALL)
        self.applied = [schema_change_line(change).rstrip(";") for change in changes]
        return state

    def write(self, number, *messages):
        state = self.batch(number, *messages)
        self.states.finish(state)
        return state


def insert(table="o", **row) -> bytes:
    return json.dumps({"before": None, "after": row, "op": "c", "source": {"db": "shop", "table": table}}).encode()


def test_a_column_that_the_projection_now_has_is_added_before_the_next_rows():
    checkpoint = Texts()
    Run(checkpoint, **NARROW).write(0, insert(id=1, v="a", more=1))
    second = Run(checkpoint, projection="id, v, more")
    state = second.write(1, insert(id=2, v="b", more=2))
    assert str(state.sinks["shop.o"].schema) == "id BIGINT, v STRING, more BIGINT"
    assert second.applied == ["ALTER TABLE shop.o ADD (more BIGINT)"]
    second.write(2, insert(id=3, v="c", more=3))
    assert second.applied == []
    third = Run(checkpoint, projection="id, v, more")
    third.write(3, insert(id=4, v="d", more=4))
    assert third.applied == []


def test_a_column_that_the_projection_has_lost_stays():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1, v="a"))
    second = Run(checkpoint, projection="id")
    assert str(second.write(1, insert(id=2, v="b")).sinks["shop.o"].schema) == "id BIGINT, v STRING"
    assert second.applied == []


def test_a_table_with_another_route_is_created_and_the_old_one_stays():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1, v="a"), insert("p", id=1))
    second = Run(checkpoint, routes=[("shop.o", "ods.o")])
    state = second.write(1, insert(id=2, v="b"))
    assert second.applied == ["CREATE TABLE ods.o (id BIGINT, v STRING)"]
    assert sorted(state.sinks) == ["ods.o", "shop.o", "shop.p"]
    back = Run(checkpoint)
    back.write(2, insert(id=3, v="c", new=1))
    assert back.applied == ["ALTER TABLE shop.o ADD (new BIGINT)"]


def test_a_primary_key_that_a_rule_gives_holds_for_a_micro_batch_that_failed_for_want_of_it():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1, v=1))
    failed = Run(checkpoint).batch(1, insert(id=1, v=1, new=True))
    assert failed.sinks["shop.o"].primary_key == ()
    state = Run(checkpoint, **BY_ID).write(1, insert(id=1, v=1, new=True))
    assert state.sinks["shop.o"].primary_key == ("id",)
    assert TableSchemas().of(state.sinks)["shop.o"].primary_key == ("id",)
    again = SchemaState.from_text(checkpoint.load_before(2), 2_000)
    assert again.sinks["shop.o"].primary_key == ("id",)


def test_the_first_micro_batch_of_all_follows_rules_that_changed_after_it_failed():
    checkpoint = Texts()
    checkpoint.save(-1, SchemaState().to_text())
    Run(checkpoint, routes=[("shop.o", "ods.misspelt")]).batch(0, insert(id=1, v="a"))
    second = Run(checkpoint, routes=[("shop.o", "ods.o")], **BY_ID)
    state = second.write(0, insert(id=1, v="a"))
    assert second.applied == ["CREATE TABLE ods.o (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"]
    assert list(state.sinks) == ["ods.o"]


def test_a_column_that_the_sink_could_not_get_is_not_tried_again_when_no_rule_needs_it():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1))
    failed = Run(checkpoint)
    failed.batch(1, insert(id=2, bad=1))
    assert failed.applied == ["ALTER TABLE shop.o ADD (bad BIGINT)"]
    second = Run(checkpoint, projection="id")
    second.write(1, insert(id=2, bad=1))
    assert second.applied == []


def test_a_column_that_the_sink_does_not_get_is_named_once(caplog):
    checkpoint = Texts()
    Run(checkpoint, **NARROW).write(0, insert(id=1, v="a", more=1))
    state = Run(checkpoint, supported=frozenset({"create.table"})).write(1, insert(id=2, v="b", more=2))
    assert str(state.sinks["shop.o"].schema) == "id BIGINT, v STRING"
    Run(checkpoint, supported=frozenset({"create.table"})).write(2, insert(id=3, v="c", more=3))
    assert [each.partition(": ")[0] for each in caplog.messages] == ["table 'shop.o' does not get 'more'"]


def test_a_primary_key_cannot_become_another_one():
    checkpoint = Texts()
    Run(checkpoint, **BY_ID).write(0, insert(id=1, v=1))
    with pytest.raises(
        SchemaError, match=r"^table 'shop.o' has another primary key: \(v\) instead of \(id\);.* or another"
    ):
        Run(checkpoint, primary_keys=("v",)).batch(1, insert(id=1, v=1))


def test_rules_that_do_not_fit_a_table_end_the_run_or_pause_the_table():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1), insert("p", id=1, x=1))
    with pytest.raises(PipelineError, match="there is no column 'x'"):
        Run(checkpoint, projection="id, x").batch(1, insert("p", id=2, x=1))
    state = Run(checkpoint, projection="id, x", pauses=True).write(1, insert("p", id=2, x=1))
    assert list(state.paused) == ["shop.o"]
    request = PauseRequest(resume=frozenset(["shop.o"]))
    resumed = Run(checkpoint, projection="id", routes=[("shop.o", "ods.o")], pauses=True, request=request)
    resumed.write(2, insert(id=3))
    assert resumed.applied == ["CREATE TABLE ods.o (id BIGINT)"]


def test_a_table_that_is_paused_gets_its_new_target_when_it_goes_on():
    checkpoint = Texts()
    Run(checkpoint).write(0, insert(id=1), insert("p", id=1))
    Run(checkpoint, request=PauseRequest(pause=frozenset(["shop.o"]))).write(1, insert("p", id=2))
    routes = [("shop.o", "ods.o")]
    other = Run(checkpoint, routes=routes)
    other.write(2, insert("p", id=3))
    assert other.applied == []
    resumed = Run(checkpoint, routes=routes, request=PauseRequest(resume=frozenset(["shop.o"])))
    resumed.write(3, insert(id=2))
    assert resumed.applied == ["CREATE TABLE ods.o (id BIGINT)"]


@pytest.mark.parametrize(
    ("transform", "applied"),
    [({}, []), ({"projection": "id"}, []), (BY_ID, []), ({"projection": "id, v, more"}, ["ADD (more BIGINT)"])],
)
def test_a_state_without_a_digest_is_read_and_gets_what_it_lacks(transform, applied):
    checkpoint = Texts()
    given = NARROW if transform.get("projection") else {}
    state = Run(checkpoint, **given).write(0, insert(id=1, v="a", more=1))
    checkpoint.texts[0] = replace(state, rules="").to_text()
    assert "rules" not in json.loads(checkpoint.texts[0])
    run = Run(checkpoint, **transform)
    after = run.write(1, insert(id=2, v="b", more=2))
    assert [each.removeprefix("ALTER TABLE shop.o ") for each in run.applied] == applied
    assert after.sinks["shop.o"].primary_key == transform.get("primary_keys", ())


def test_an_uncommitted_micro_batch_without_a_digest_keeps_its_changes():
    checkpoint = Texts()
    state = Run(checkpoint).batch(0, insert(id=1, b=1), insert(id=1, a=1))
    checkpoint.texts[0] = replace(state, rules="").to_text()
    run = Run(checkpoint)
    run.write(0, insert(id=1, b=1), insert(id=1, a=1))
    assert run.applied == ["CREATE TABLE shop.o (id BIGINT, b BIGINT, a BIGINT)"]


def test_the_digest_knows_all_that_makes_tables_and_no_words_for_people():
    rule = TransformRule(source_table="a.b")
    route = RouteRule(source_table="a.b", sink_table="c")
    digest = rules_digest([route], [rule], "ALL_MATCH")
    assert digest == rules_digest([replace(route, description="x")], [replace(rule, description="y")], "ALL_MATCH")
    others = [
        rules_digest([], [rule], "ALL_MATCH"),
        rules_digest([route], [], "ALL_MATCH"),
        rules_digest([route], [rule], "FIRST_MATCH"),
        rules_digest([route], [replace(rule, primary_keys=("id",))], "ALL_MATCH"),
        rules_digest([replace(route, replace_symbol="<>")], [rule], "ALL_MATCH"),
    ]
    assert len({digest, *others}) == len(others) + 1
