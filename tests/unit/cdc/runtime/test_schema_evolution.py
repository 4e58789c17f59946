"""Schemas of a pipeline's tables, as its messages need them."""

from __future__ import annotations

import json

import pytest

from millrace.contracts import SCHEMA_CHANGES
from millrace.errors import MessageError, SchemaError, StateError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions, JsonInferenceOptions
from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.rules import RouteRule, TransformRule
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place
from millrace_cdc.transforms.transform import Transforms

ALL = frozenset(SCHEMA_CHANGES)
OPTIONS = {"debezium-json": DebeziumInferenceOptions, "canal-json": CanalInferenceOptions, "json": JsonInferenceOptions}


class NoProjector:
    """Spark analyzes expressions; there are none here."""

    def columns(self, table, columns, transform):
        raise AssertionError(f"table {table} has expressions")


def evolution(behavior="lenient", *, accepted=ALL, supported=ALL, routes=(), transforms=(), strategy="continuous"):
    planner = TablePlanner(Router(routes), Transforms(transforms), NoProjector())
    return SchemaEvolution(EvolutionSettings(behavior, accepted, supported, strategy), planner)


def insert(table: str, partition: int = 0, **row) -> tuple[int, bytes]:
    source = {"db": "shop", "table": table}
    return partition, json.dumps({"before": None, "after": row, "op": "c", "source": source}).encode()


def run(evolving, *messages, state=None, settings=None):
    """Evolve as one micro-batch does, with a task for each partition."""
    before = SchemaState() if state is None else state.next_batch()
    settings = settings or ParserSettings("debezium-json", DebeziumInferenceOptions())
    parsers: dict[int, ChangeParser] = {}
    for offset, (partition, value) in enumerate(messages):
        parser = parsers.setdefault(partition, ChangeParser(settings, TableSchemas().of(before.sources)))
        parser.changes(Place("topic", partition, offset), value)
    return evolving.evolve(before, [parser.report for parser in parsers.values()])


def columns(state, table="shop.orders", side="sinks") -> str:
    return str(getattr(state, side)[table].schema)


def test_a_table_is_created_with_all_columns_that_its_first_micro_batch_needs():
    state = run(evolution(), insert("orders", id=1), insert("users", name="x"), insert("orders", id=2, note="a"))
    assert columns(state) == "id BIGINT, note STRING"
    assert columns(state, "shop.users") == "name STRING"
    assert [type(change).__name__ for change in state.changes()] == ["TableCreation", "TableCreation"]


@pytest.mark.parametrize("rows", [[{"id": 1, "ID": 2}], [{"id": 1}, {"Id": 2}]])
def test_columns_that_differ_only_in_case_are_refused_for_sinks_that_take_them_for_the_same(rows):
    messages = [insert("orders", **row) for row in rows]
    with pytest.raises(SchemaError, match=r"table 'shop.orders' would have the columns id and I[Dd], which differ"):
        run(evolution(), *messages)
    settings = EvolutionSettings("lenient", ALL, ALL, distinguishes_case=True)
    planner = TablePlanner(Router(()), Transforms(()), NoProjector())
    assert columns(run(SchemaEvolution(settings, planner), *messages)).lower() == "id bigint, id bigint"


def test_a_later_micro_batch_has_only_its_own_changes():
    evolving = evolution()
    first = run(evolving, insert("orders", id=1))
    second = run(evolving, insert("orders", id="a", more=1.5), state=first)
    assert columns(second) == "id STRING, more DOUBLE"
    assert [type(change).__name__ for change in second.changes()] == ["AddColumns", "AlterColumnTypes"]
    assert columns(first) == "id BIGINT", "an earlier state stays what it is"
    assert run(evolving, insert("orders", id="b"), state=second).changes() == ()


def test_the_order_of_columns_does_not_depend_on_the_order_of_tasks():
    messages = [insert("orders", 1, id=1, b=1), insert("orders", 0, id=1, a=1)]
    assert (
        columns(run(evolution(), *messages))
        == columns(run(evolution(), *reversed(messages)))
        == ("id BIGINT, a BIGINT, b BIGINT")
    )


def test_a_state_is_read_back_as_it_was_written():
    state = run(evolution(), insert("orders", id=1), insert("orders", id=1.5))
    read = SchemaState.from_text(state.to_text(), 2_000)
    assert read.to_text() == state.to_text()
    assert read.changes() == state.changes()
    with pytest.raises(StateError, match="version 3"):
        SchemaState.from_text('{"v":3}', 2_000)
    with pytest.raises(StateError, match="cannot be read"):
        SchemaState.from_text("[", 2_000)


def test_tables_that_go_to_one_table_widen_it_together():
    routes = [RouteRule(source_table=r"shop.orders_\.*", sink_table="shop.orders")]
    state = run(evolution(routes=routes), insert("orders_1", id=1), insert("orders_2", id="a", b=True))
    assert columns(state) == "id STRING, b BOOLEAN"
    assert set(state.sinks) == {"shop.orders"}


def test_a_transform_gives_a_table_its_primary_key():
    transforms = [TransformRule(source_table=r"\.*.\.*", primary_keys=("id",))]
    assert run(evolution(transforms=transforms), insert("orders", id=1)).sinks["shop.orders"].primary_key == ("id",)


def test_a_table_without_the_columns_of_a_rules_key_is_named_once_and_ends_no_other(caplog):
    transforms = [TransformRule(source_table=r"\.*.\.*", primary_keys=("id",))]
    found = evolution(transforms=transforms)
    state = run(found, insert("users", name="x"), insert("orders", id=1))
    assert state.sinks["shop.orders"].primary_key == ("id",)
    assert state.sinks["shop.users"].primary_key == ()
    assert columns(state, "shop.users") == "name STRING"
    # It began without a key, which cannot change, whatever columns it gets
    later = run(found, insert("users", name="y", id=1), insert("users", name="z", more=1), state=state)
    assert later.sinks["shop.users"].primary_key == ()
    assert columns(later, "shop.users") == "name STRING, id BIGINT, more BIGINT"
    assert [record.getMessage() for record in caplog.records] == [
        "table 'shop.users' has no column id, which 'primary-keys' of its transform names: it has no primary key",
        "table 'shop.users' began without a column that 'primary-keys' of its transform names, so that it has no "
        "primary key: declare the column in the source's initial schemas, or start with a new checkpoint",
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"behavior": "ignore"}, "id BIGINT"),
        ({"accepted": ALL - {"add.column"}}, "id STRING"),
        ({"accepted": ALL - {"alter.column.type"}}, "id BIGINT, b BIGINT"),
        ({"supported": frozenset({"create.table", "add.column"})}, "id BIGINT, b BIGINT"),
        ({"behavior": "try_evolve", "supported": frozenset({"create.table"})}, "id BIGINT"),
        ({"behavior": "evolve"}, "id STRING, b BIGINT"),
    ],
)
def test_the_sinks_table_takes_the_changes_that_the_pipeline_lets_it(settings, expected):
    first = run(evolution(), insert("orders", id=1))
    state = run(evolution(**settings), insert("orders", id="x", b=1), state=first)
    assert columns(state) == expected
    assert columns(state, side="sources") == "id STRING, b BIGINT"


def test_a_change_that_must_not_be_ends_the_pipeline():
    first = run(evolution(), insert("orders", id=1))
    with pytest.raises(SchemaError, match=r"table 'shop.orders' must get columns: b BIGINT, and .* is exception"):
        run(evolution("exception"), insert("orders", id=1, b=1), state=first)
    with pytest.raises(SchemaError, match=r"must change types: id from BIGINT to STRING, which the sink cannot apply"):
        run(evolution("evolve", supported=frozenset({"create.table"})), insert("orders", id="x"), state=first)


def test_a_static_table_keeps_its_first_columns():
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions(), "static")
    state = run(evolution(strategy="static"), insert("orders", id=1), insert("orders", id="a", b=1), settings=settings)
    assert columns(state) == "id BIGINT"


def test_the_primary_key_of_canal_cannot_change():
    settings = ParserSettings("canal-json", CanalInferenceOptions())

    def message(*keys: str) -> tuple[int, bytes]:
        content = {
            "data": [{"id": "1", "no": "2"}],
            "type": "INSERT",
            "database": "shop",
            "table": "t",
            "pkNames": keys,
        }
        return 0, json.dumps(content).encode()

    state = run(evolution(), message("id"), settings=settings)
    assert state.sinks["shop.t"].primary_key == ("id",)
    with pytest.raises(SchemaError, match="primary keys cannot change"):
        run(evolution(), message("no"), state=state, settings=settings)


def test_malformed_messages_are_counted_or_end_the_pipeline():
    broken = (0, b'{"op":"x"}')
    tolerant = ParserSettings("debezium-json", DebeziumInferenceOptions(), skips_malformed=True)
    state = run(evolution(), broken, insert("orders", id=1), broken, settings=tolerant)
    assert (state.malformed, columns(state)) == (2, "id BIGINT")
    with pytest.raises(MessageError, match=r"topic 'topic', partition 0, offset 0: field op.*ingestion.ignore-errors"):
        run(evolution(), broken)


def test_a_change_without_the_row_that_it_needs_is_malformed():
    update = json.dumps({"before": None, "after": {"id": 1}, "op": "u", "source": {"table": "t"}}).encode()
    with pytest.raises(MessageError, match="REPLICA IDENTITY FULL"):
        run(evolution(), (0, update))


def can_widen(before, after) -> bool:
    """Return what a sink says that can make INT BIGINT only."""
    return (before.kind, after.kind) == ("INT", "BIGINT")


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [("lenient", "id BIGINT, n BIGINT"), ("evolve", "the sink cannot change BIGINT to DOUBLE: set")],
)
def test_a_type_that_the_sink_cannot_widen_stays_or_ends_the_pipeline(behavior, expected):
    planner = TablePlanner(Router(()), Transforms(()), NoProjector())
    evolving = SchemaEvolution(EvolutionSettings(behavior, ALL, ALL, can_widen=can_widen), planner)
    first = run(evolving, insert("orders", id=1, n=2))
    if behavior == "lenient":
        assert columns(run(evolving, insert("orders", id=1, n=2.5), state=first)) == expected
    else:
        with pytest.raises(SchemaError, match=expected):
            run(evolving, insert("orders", id=1, n=2.5), state=first)


def test_a_column_that_is_not_null_stays_so():
    tracker = SchemaTracker("shop.orders")
    tracker.create(parse_schema("id BIGINT NOT NULL, note STRING"))
    state = SchemaState({"shop.orders": tracker})
    with pytest.raises(
        SchemaError, match=r"topic 'topic': table 'shop.orders' .* has NULL in column id, which is BIGINT"
    ):
        run(evolution(), insert("orders", id=None), state=state)
    # A column that messages lack, or that is new, is nullable
    state = run(evolution(), insert("orders", id=1, new=None), insert("orders", id=2, new=1), state=state)
    assert columns(state, side="sources") == "id BIGINT NOT NULL, note STRING, new BIGINT"


def test_a_table_that_cannot_change_is_paused_and_leaves_no_trace_in_a_table_that_others_go_to_as_well():
    routes = [RouteRule(source_table="shop.\\.*", sink_table="all.t")]
    planner = TablePlanner(Router(routes), Transforms(()), NoProjector())
    settings = EvolutionSettings("evolve", ALL, ALL - {"alter.column.type"})
    evolving = SchemaEvolution(settings, planner, pauses=True)
    first = run(evolving, insert("a", id=1), insert("b", id=1))
    second = run(evolving, insert("b", id=2, added=1), insert("a", id="x"), insert("c", id=1.5), state=first)
    assert columns(second, "all.t") == "id BIGINT, added BIGINT"
    assert columns(second, "shop.a", "sources") == "id BIGINT"
    assert sorted(second.paused) == ["shop.a", "shop.c"]
    assert "which the sink cannot apply (alter.column.type)" in second.paused["shop.a"]
    assert "shop.c" not in second.sources
    read = SchemaState.from_text(second.to_text(), 2_000)
    assert (read.paused, json.loads(second.to_text())["v"]) == (second.paused, 2)
    assert json.loads(first.to_text())["v"] == 1, "an older millrace reads what has no paused tables"
