"""Changes that a pipeline's file gives, and changes as lines."""

from __future__ import annotations

import pytest

from millrace.contracts import PipelineSchemaChange, PipelineTable
from millrace.options.parser import OptionParser
from millrace.testing import PipelineSinkSuite, PipelineSourceSuite
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import JsonInferenceOptions
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.values.lines import change_lines, parse_changes, schema_change_line
from millrace_cdc.connectors.values.sink import ValuesPipelineSink
from millrace_cdc.connectors.values.source import ValuesPipelineSource
from millrace_cdc.connectors.values.stream import ValuesReader
from millrace_cdc.routing.router import Router
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.change_encoding import TypedRowReader, encode_change
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.sink_tables import pipeline_table
from millrace_cdc.transforms.transform import Transforms

LINES = """
# an order and its changes
+I shop.orders {"id": 1, "price": 5}
-U shop.orders {"id": 1, "price": 5}
+U shop.orders {"id": 1, "price": 6.5}
-D shop.orders {"id": 1, "price": 6.5}
"""


def parse(plugin, **given: str):
    parser = OptionParser("pipeline", given)
    options = parser.take(plugin.Options)
    parser.finish()
    return plugin(options)


class TestSource(PipelineSourceSuite):
    def make_plugin(self):
        return parse(ValuesPipelineSource, changes=LINES)


class TestSink(PipelineSinkSuite):
    def make_plugin(self):
        return parse(ValuesPipelineSink)


def test_lines_are_changes_and_changes_are_lines():
    reader = TypedRowReader("values", JsonInferenceOptions())
    changes = [reader.parse(message) for message in parse_changes(LINES)]
    assert [change.operation for change in changes] == ["c", "u", "d"]
    assert changes[1].rows == (({"id": 1, "price": 5}, {"id": 1, "price": 6.5}),)
    assert {name: type_.kind for name, type_ in reader.columns_of(changes[1]).items()} == {
        "id": "BIGINT",
        "price": "DOUBLE",
    }
    encoded = [[None if row is None else exact_json.encode(row) for row in change.rows[0]] for change in changes]
    lines = [
        line
        for change, rows in zip(changes, encoded, strict=True)
        for line in change_lines(change.table, change.operation, *rows)
    ]
    assert parse_changes("\n".join(lines)) == parse_changes(LINES)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("+I t", "line 1: expected"),
        ("\n+X t {}", "line 2: expected"),
        ("+I t [1]", "line 1: expected a row as a JSON object"),
        ("+I t {", "line 1: expected a row as a JSON object"),
        ("+U t {}", "line 1: expected -U with the old row"),
        ("-U t {}\n+U u {}", "line 1: expected -U with the old row"),
        ("+I t {}\n-U t {}", "line 2: expected -U with the old row"),
        ("-U t {}\n+I t {}", "line 1: expected -U with the old row"),
    ],
)
def test_a_line_that_is_no_change(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_changes(text)


def test_a_message_may_name_types_and_key():
    reader = TypedRowReader("t", JsonInferenceOptions())
    change = reader.parse(
        encode_change("t", "c", None, {"n": 1}, columns="n DECIMAL(10, 2) NOT NULL", primary_key=("n",))
    )
    assert {name: str(type_) for name, type_ in reader.columns_of(change).items()} == {"n": "DECIMAL(10, 2)"}
    assert change.primary_key == ("n",)


def test_schema_changes_are_statements():
    schema = to_spark_schema(parse_schema("id BIGINT, `a b` STRING"))
    table = PipelineTable("db.t", schema, ("id",))
    assert [
        schema_change_line(PipelineSchemaChange(type_, table, columns, 1))
        for type_, columns in [("create.table", ()), ("add.column", ("a b",)), ("alter.column.type", ("id",))]
    ] == [
        "CREATE TABLE db.t (id BIGINT, `a b` STRING, PRIMARY KEY (id) NOT ENFORCED);",
        "ALTER TABLE db.t ADD (`a b` STRING);",
        "ALTER TABLE db.t MODIFY (id BIGINT);",
    ]


def test_texts_keep_their_lengths():
    columns = parse_schema("id CHAR(2) NOT NULL, name VARCHAR(10), note STRING")
    tracker = SchemaTracker("db.t")
    change = tracker.create(columns, ("id",))
    planner = TablePlanner(Router(()), Transforms(()), projector=None)
    table = pipeline_table(columns, tracker, planner)
    assert [field.dataType.simpleString() for field in table.schema] == ["string"] * 3
    assert schema_change_line(PipelineSchemaChange("create.table", table, (), change.version)) == (
        "CREATE TABLE db.t (id CHAR(2) NOT NULL, name VARCHAR(10), note STRING, PRIMARY KEY (id) NOT ENFORCED);"
    )


def test_a_stream_goes_on_behind_what_was_read():
    reader = ValuesReader((b"a", b"b", b"c"))
    end = reader.latestOffset({"offset": 1}, None)
    (partition,) = reader.partitions({"offset": 1}, end)
    assert [(row[2], row[5]) for row in reader.read(partition)] == [(1, b"b"), (2, b"c")]
    # Fewer changes than were read already, by a file that was edited
    assert reader.latestOffset({"offset": 5}, None) == {"offset": 5}


def test_a_sink_that_refuses_schema_changes_can_create_tables():
    assert parse(ValuesPipelineSink, **{"error.on.schema.change": "true"}).capabilities.schema_changes == {
        "create.table"
    }
