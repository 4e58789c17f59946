"""Messages of a task as changes of tables."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from millrace.errors import MessageError, SchemaError
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions, JsonInferenceOptions, Position
from millrace_catalog.types import parse_schema
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.extra_columns import ExtraColumns
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.schema_state import TableSchemas
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import read_report

NOW = datetime(2024, 5, 6, 7, 8, 9, 123456, UTC)


def batch_of(*messages: bytes | None, key: bytes | None = None) -> pa.RecordBatch:
    count = len(messages)
    return pa.record_batch(
        {
            "topic": pa.array(["t"] * count),
            "partition": pa.array([3] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "timestamp": pa.array([NOW] * count, pa.timestamp("us", "UTC")),
            "key": pa.array([key] * count, pa.binary()),
            "value": pa.array(messages, pa.binary()),
        }
    )


def parse(settings: ParserSettings, *messages: bytes | None, tables=None, key=None):
    """Return the rows before and after of each change, and the report."""
    *changes, last = ChangeParser(settings, tables or {}).parse(iter([batch_of(*messages, key=key)]))
    found = [
        (row["table"], row["operation"], *(row[name] and json.loads(row[name]) for name in ("before", "after")))
        for change in changes
        for row in change.to_pylist()
    ]
    return found, read_report(last.column("report")[0].as_py())


def canal(rows: list[dict], **fields) -> bytes:
    return json.dumps({"data": rows, "type": "INSERT", "database": "d", "table": "t", **fields}).encode()


def test_a_message_of_canal_has_many_rows_and_old_ones_are_completed():
    message = canal([{"id": "1", "a": "x"}, {"id": "2", "a": None}], type="UPDATE", old=[{"a": "w"}, {"a": "v"}])
    found, report = parse(ParserSettings("canal-json", CanalInferenceOptions()), message, None, canal([], isDdl=True))
    assert found == [
        ("d.t", "u", {"id": "1", "a": "w"}, {"id": "1", "a": "x"}),
        ("d.t", "u", {"id": "2", "a": "v"}, {"id": "2", "a": None}),
    ]
    assert (report.tables["d.t"].rows, report.tables["d.t"].newest) == (2, NOW)
    assert report.tables["d.t"].partitions == {("t", 3)}


@pytest.mark.parametrize("strategy", ["SQL_TYPE", "MYSQL_TYPE"])
def test_bytes_of_canal_are_converted_by_the_types_that_the_message_declares(strategy):
    declared = {"sqlType": {"id": -5, "b": -3}, "mysqlType": {"id": "bigint(20)", "b": "varbinary(8)"}}
    settings = ParserSettings("canal-json", CanalInferenceOptions(strategy=strategy))
    parser = ChangeParser(settings, {})
    (changes, report) = parser.parse(iter([batch_of(canal([{"id": "7", "b": "aGk=\xff"}], **declared))]))
    (required,) = read_report(report.column("report")[0].as_py()).tables["d.t"].required
    assert required.columns.startswith("id BIGINT NOT NULL, b ")
    table = SourceTableSchema("id BIGINT, b BYTES", ())
    (converted,) = ChangeConverter({"d.t": ("d.t",)}, {"d.t": table}).convert([changes.drop_columns(["report"])])
    assert json.loads(converted.column("after")[0].as_py()) == {"id": 7, "b": "YUdrPf8="}


def test_a_message_that_fits_its_table_needs_nothing():
    schemas = {"t": SourceTableSchema("id BIGINT, name STRING", ())}
    settings = ParserSettings("json", JsonInferenceOptions())
    _, report = parse(settings, b'{"id":1}', b'{"id":null,"name":"a"}', b'{"id":1.5}', b'{"id":2.5}', tables=schemas)
    assert [(each.place.offset, each.columns) for each in report.tables["t"].required] == [(2, "id DOUBLE NOT NULL")]


def test_nested_fields_become_columns_where_options_say_so():
    settings = ParserSettings("json", JsonInferenceOptions(flatten=True, table_fields=("db", "t")))
    found, _ = parse(settings, b'{"db":"d","t":"x","a":{"b":{"c":1},"e":[{}]}}')
    assert found == [("d.x", "c", None, {"db": "d", "t": "x", "a.b.c": 1, "a.e": [{}]})]


def test_rows_have_the_columns_of_keys_and_metadata_and_prefixes():
    extra = ExtraColumns(True, "k_", "v_", ("topic", "partition", "offset", "timestamp"))
    settings = ParserSettings("json", JsonInferenceOptions(), extra=extra)
    found, report = parse(settings, b'{"id":1}', key=b'{"id":9}')
    metadata = {"topic": "t", "partition": 3, "offset": 0, "timestamp": "2024-05-06 07:08:09.123Z"}
    assert found == [("t", "c", None, {"k_id": 9, "v_id": 1, **metadata})]
    (required,) = report.tables["t"].required
    assert required.columns == (
        "k_id BIGINT NOT NULL, v_id BIGINT NOT NULL, topic STRING, `partition` INT, `offset` BIGINT, "
        "`timestamp` TIMESTAMP_LTZ(3)"
    ).replace("`", "")


def test_a_key_with_its_schema_beside_it_is_that_of_its_payload():
    settings = ParserSettings("json", JsonInferenceOptions(), extra=ExtraColumns(True, "k_"))
    found, _ = parse(settings, b'{"v":1}', key=b'{"schema":{"type":"struct"},"payload":{"id":9}}')
    assert found == [("t", "c", None, {"k_id": 9, "v": 1})]


def test_the_error_of_a_key_shows_the_key():
    settings = ParserSettings("json", JsonInferenceOptions(), extra=ExtraColumns(True))
    with pytest.raises(MessageError) as error:
        parse(settings, b'{"v":"secret"}', key=b"user-7")
    assert "offset 0: the key is no JSON object: not JSON" in str(error.value)
    assert "It begins with b'user-7'" in str(error.value)
    assert "secret" not in str(error.value)


def test_metadata_takes_no_column_of_a_value():
    settings = ParserSettings("json", JsonInferenceOptions(), extra=ExtraColumns(metadata=("offset",)))
    with pytest.raises(SchemaError, match=r"table 't' has a column 'offset', as 'metadata.list' names one"):
        parse(settings, b'{"offset":1}')


def test_malformed_messages_go_to_the_collector(caplog):
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "logger")
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions(), skips_malformed=True, collector=collector)
    with caplog.at_level(logging.WARNING):
        _, report = parse(settings, b'{"op":"x"}', b"{")
    assert report.malformed == 2
    # Clients of other tests log, too
    records = [record for record in caplog.records if record.getMessage().startswith("malformed message")]
    assert [record.getMessage().partition(":")[0] for record in records] == [
        "malformed message in topic 't', partition 3, offset 0",
        "malformed message in topic 't', partition 3, offset 1",
    ]


def test_rows_that_fit_their_table_pass_without_inference_and_without_conversion():
    schemas = {"t": SourceTableSchema("id BIGINT, n DOUBLE, s STRING", ())}
    settings = ParserSettings("json", JsonInferenceOptions())
    found, report = parse(settings, b'{"n": 1, "id": 2}', b' {"id":3,"s":"x"}', tables=schemas)
    assert found == [("t", "c", None, {"id": 2, "n": 1.0, "s": None}), ("t", "c", None, {"id": 3, "n": None, "s": "x"})]
    assert (report.tables["t"].fits, report.tables["t"].required, report.tables["t"].rows) == (True, [], 2)
    # A number fits a STRING, but has yet to become one
    _, report = parse(settings, b'{"id":1,"s":5}', tables=schemas)
    assert (report.tables["t"].fits, report.tables["t"].required) == (False, [])

    rows = next(ChangeParser(settings, schemas).parse(iter([batch_of(b'{"id":3}')]))).drop_columns(["report"])
    (same,) = ChangeConverter({"t": ("t",)}, {}, frozenset({"t"})).convert([rows])
    assert same == rows
    (routed,) = ChangeConverter({"t": ("a", "b")}, {}, frozenset({"t"})).convert([rows])
    assert (routed["table"].to_pylist(), routed["after"].to_pylist()) == (["a", "b"], rows["after"].to_pylist() * 2)


def test_rows_of_a_table_that_a_task_has_met_need_no_inference_either():
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions())
    messages = [json.dumps({"after": {"id": n, **extra}, "op": "c"}).encode() for n, extra in enumerate([{}, {"a": 1}])]
    found, report = parse(settings, messages[0], messages[1], messages[0])
    assert [after for *_, after in found] == [{"id": 0}, {"id": 1, "a": 1}, {"id": 0, "a": None}]
    assert len(report.tables["t"].required) == 2


DECLARED = "id INT NOT NULL, p DECIMAL(10, 2), b BYTES, f FLOAT, t TIME(0), ts TIMESTAMP(3), n VARCHAR(5)"
FITTING = {"id": 1, "p": 12.5, "b": "AAEC", "f": 1.5, "t": "10:00:00", "ts": "2024-01-01 10:00:00", "n": "abc"}


def declared(row: dict) -> bytes:
    return json.dumps({"before": None, "after": row, "op": "c", "source": {"table": "o"}}).encode()


def test_a_value_that_fits_a_declared_type_does_not_change_it():
    tracker = SchemaTracker("o")
    tracker.create(parse_schema(DECLARED), ("id",))
    tables = TableSchemas().of({"o": SchemaTracker.restore(tracker.state())})
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions())
    messages = [declared(FITTING), declared(FITTING | {"p": 1.234, "n": "abcdef"}), declared(FITTING | {"p": 1.234})]
    _, report = parse(settings, *messages, tables=tables)
    (required,) = report.tables["o"].required
    columns = parse_schema(required.columns).types
    kinds = {name: str(type_).removesuffix(" NOT NULL") for name, type_ in columns.items()}
    assert kinds == {
        name: str(type_).removesuffix(" NOT NULL") for name, type_ in parse_schema(DECLARED).types.items()
    } | {
        "p": "DECIMAL(11, 3)",
        "n": "STRING",
    }


def test_a_column_of_the_first_message_is_not_declared():
    tracker = SchemaTracker("o")
    tracker.create(parse_schema("id BIGINT"), (), Position(0, 0))
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions())
    _, report = parse(settings, declared({"id": "1"}), tables=TableSchemas().of({"o": tracker}))
    assert [each.columns for each in report.tables["o"].required] == ["id STRING NOT NULL"]
