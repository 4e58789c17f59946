"""Ids of tables: names with dots, and ids with too many parts."""

from __future__ import annotations

import json

import pytest

from millrace.errors import MessageError, OptionsError
from millrace.options.parser import OptionParser
from millrace_catalog.inference import DebeziumInferenceOptions, JsonInferenceOptions
from millrace_catalog.inference.options import FormatOptions
from millrace_cdc.connectors.delta.options import DeltaSinkOptions
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from millrace_cdc.connectors.kafka.source_options import KafkaSourceOptions
from millrace_cdc.connectors.values.lines import parse_changes
from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import Place
from millrace_cdc.table_id import TableId, table_id, topic_table
from support.pipeline_sinks import make_sink

DEBEZIUM = ParserSettings("debezium-json", DebeziumInferenceOptions())
PLACE = Place("t", 0, 7)


def debezium(**source):
    return json.dumps({"before": None, "after": {"id": 1}, "op": "c", "source": source}).encode()


def test_tables_whose_joined_names_are_equal_have_two_ids():
    parser = ChangeParser(DEBEZIUM, {})
    sources = ({"db": "c", "table": "a.b"}, {"db": "c.a", "table": "b"}, {"db": "c", "schema": "a", "table": "b"})
    found = [change.table for source in sources for change in parser.changes(PLACE, debezium(**source))]
    assert found == ["c.`a.b`", "`c.a`.b", "c.a.b"]
    assert [table_id(each).parts for each in found] == [("c", "a.b"), ("c.a", "b"), ("c", "a", "b")]


def test_the_fast_parser_names_tables_in_the_same_way():
    tables = {name: SourceTableSchema("id BIGINT", ()) for name in ("c.`a.b`", "`c.a`.b", "`p.db.dbo.t`")}
    parser = ChangeParser(DEBEZIUM, tables)
    fast = parser._fast_parser
    assert fast.parse("t", debezium(db="c", table="a.b")).table == "c.`a.b`"
    assert fast.parse("t", debezium(db="c.a", table="b")).table == "`c.a`.b"
    assert fast.parse("p.db.dbo.t", debezium()).table == "`p.db.dbo.t`"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ParserSettings("ogg-json", FormatOptions()),
            {"table": "a.b.c.d", "op_type": "I", "before": None, "after": {"id": 1}},
        ),
        (
            ParserSettings("json", JsonInferenceOptions(table_fields=("t",))),
            {"t": "a.b.c.d", "id": 1},
        ),
    ],
)
def test_an_id_with_more_than_three_parts_is_malformed(settings, message):
    with pytest.raises(MessageError, match=r"'a\.b\.c\.d': expected .*, not one of 4 parts"):
        ChangeParser(settings, {}).changes(PLACE, json.dumps(message).encode())


def test_a_file_with_such_an_id_is_refused():
    with pytest.raises(ValueError, match=r"line 1: expected .*, not one of 4 parts; got 'a\.b\.c\.d'"):
        parse_changes('+I a.b.c.d {"id": 1}')
    given = {
        "properties.bootstrap.servers": "localhost:1",
        "topic": "t",
        "json.decode.parser-table-id.fields": "a,b,c,d",
    }
    parser = OptionParser("source", given)
    parser.take(KafkaSourceOptions)
    with pytest.raises(OptionsError, match="at most three parts, got 4 fields"):
        parser.finish()


def test_a_topic_whose_name_is_no_id_is_a_table_of_one_part():
    assert [topic_table(name) for name in ("orders", "s.orders", "p.s.orders")] == ["orders", "s.orders", "p.s.orders"]
    assert table_id(topic_table("p.db.dbo.orders")).parts == ("p.db.dbo.orders",)
    parser = ChangeParser(ParserSettings("json", JsonInferenceOptions()), {})
    (change,) = parser.changes(Place("p.db.dbo.orders", 0, 1), b'{"id": 1}')
    assert change.table == "`p.db.dbo.orders`"


def test_routes_match_names_joined_by_dots():
    router = Router([RouteRule(source_table=r"p.db.dbo.(\.*)", sink_table="ods.$1")])
    assert router.route(table_id("`p.db.dbo.orders`")) == (TableId(None, "ods", "orders"),)


def test_a_symbol_stands_for_all_of_a_name():
    router = Router([RouteRule(source_table=r"c.\.*", sink_table="ods.x_<>", replace_symbol="<>")])
    assert router.route(table_id("c.`a.b`")) == (TableId(None, "ods", "x_a.b"),)


def test_lines_have_names_between_backticks():
    (message,) = parse_changes('+I c.`a. b` {"id": 1}')
    assert json.loads(message)[0] == "c.`a. b`"


def test_sinks_keep_such_tables_apart():
    delta = DeltaPipelineSink(DeltaSinkOptions(path="/lake"))
    assert [delta._table(each).uri for each in ("c.`a.b`", "`c.a`.b")] == ["/lake/c/a.b", "/lake/c.a/b"]
    jdbc = make_sink(JdbcPipelineSink, url="jdbc:postgresql://h/d")
    names = [jdbc._name(each) for each in ("c.`a.b`", "`c.a`.b")]
    assert [jdbc._dialect.quote_table(each) for each in names] == ['"c"."a.b"', '"c.a"."b"']
