"""Messages that Debezium 3.3 wrote of PostgreSQL 16, as they are: by Kafka Connect's converter, most with schema."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader
from millrace_catalog.inference.debezium_types import OutOfRange, declared_row
from millrace_catalog.inference.observation import TableChange

MESSAGES: dict[str, str] = dict(
    json.loads(line) for line in Path(__file__).with_name("debezium_messages.jsonl").read_text().splitlines()
)


def read(name: str, **options: bool) -> tuple[DebeziumReader, TableChange]:
    has_schema = MESSAGES[name].startswith('{"schema"')
    reader = DebeziumReader("t", DebeziumInferenceOptions(schema_include=has_schema, **options))
    change = reader.parse(MESSAGES[name].encode())
    assert isinstance(change, TableChange)
    return reader, change


def rows(name: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    _, change = read(name)
    return change.rows[0]


TYPES = {
    "id": ("BIGINT", 1),
    "si": ("SMALLINT", 2),
    "i": ("INT", 3),
    "b": ("BOOLEAN", True),
    "r": ("FLOAT", 1.5),
    "d": ("DOUBLE", 2.25),
    "n": ("DECIMAL(10, 2)", "12345.67"),
    "nn": ("STRING", "123.456789"),
    "t": ("STRING", "text"),
    "c": ("STRING", "ab "),
    "bi": ("BYTES", "AQL/"),
    "da": ("DATE", "2024-05-06"),
    "ti": ("TIME(6)", "01:02:03.456789"),
    "t3": ("TIME(3)", "01:02:03.456"),
    "tz": ("STRING", "23:02:03Z"),
    "ts": ("TIMESTAMP(6)", "2024-05-06 07:08:09.123456"),
    "ts3": ("TIMESTAMP(3)", "2024-05-06 07:08:09.123"),
    "tstz": ("TIMESTAMP_LTZ(6)", "2024-05-06T05:08:09.123456Z"),
    "iv": ("BIGINT", 93_600_000_000),
    "jb": ("STRING", '{"b": [1]}'),
    "u": ("STRING", "00112233-4455-6677-8899-aabbccddeeff"),
    "m": ("STRING", "ok"),
    "ia": ("ARRAY<INT>", [1, None, 3]),
    "ta": ("ARRAY<STRING>", ["a", "b"]),
    "bit1": ("BOOLEAN", True),
    "bit8": ("BYTES", "qg=="),
    "mo": ("DECIMAL(38, 2)", "12.34"),
}


def test_columns_and_values_are_those_that_the_schema_declares() -> None:
    reader, change = read("types")
    columns = {name: str(type_).removesuffix(" NOT NULL") for name, type_ in reader.columns_of(change).items()}
    row = change.rows[0][1]
    assert row is not None
    assert {name: (columns[name], row[name]) for name in TYPES} == TYPES


def test_columns_without_values_have_their_types_too() -> None:
    reader, change = read("nulls")
    columns = {name: str(type_) for name, type_ in reader.columns_of(change).items()}
    assert {name: columns[name] for name in TYPES if name != "id"} == {
        name: type_ for name, (type_, _) in TYPES.items() if name != "id"
    }


def test_rows_before_and_after_are_converted() -> None:
    before, after = rows("types-updated")
    assert before is not None
    assert after is not None
    assert (before["n"], before["nn"]) == ("12345.67", "123.456789")
    assert (after["n"], after["nn"]) == ("-0.05", "1" + 30 * "0")


def test_primitives_can_be_strings() -> None:
    reader, change = read("types", primitive_as_string=True)
    columns = reader.columns_of(change)
    assert (str(columns["da"]), str(columns["i"]), str(columns["ia"])) == (
        "STRING NOT NULL",
        "STRING NOT NULL",
        "ARRAY<INT> NOT NULL",
    )


def test_the_schema_of_a_table_is_that_of_the_values_where_formats_read_it() -> None:
    reader, _ = read("types")
    observed = reader.read(MESSAGES["types"].encode())
    assert observed is not None
    assert str(observed.columns["da"]) == "BIGINT NOT NULL"


def test_a_value_that_was_not_sent_is_malformed_in_an_insertion() -> None:
    with pytest.raises(MalformedMessageError, match="field big: the database did not send the value"):
        read("toasted")


@pytest.mark.parametrize("choice", ["text", "null", "fail"])
def test_a_value_out_of_the_range_of_its_type_is_text_null_or_malformed(choice: OutOfRange) -> None:
    reader = DebeziumReader("t", DebeziumInferenceOptions(schema_include=True), out_of_range=choice)
    if choice == "fail":
        with pytest.raises(MalformedMessageError, match="field da: no DATE can be -2147472692"):
            reader.parse(MESSAGES["infinite"].encode())
        return
    change = reader.parse(MESSAGES["infinite"].encode())
    assert isinstance(change, TableChange)
    row, types = change.rows[0][1], reader.columns_of(change)
    assert row is not None
    expected = ("infinity", "infinity", "-infinity") if choice == "text" else (None, None, None)
    assert tuple(row[name] for name in ("da", "ts", "tstz")) == expected
    shown = [str(types[name]).removesuffix(" NOT NULL") for name in ("da", "ts", "tstz", "ts3")]
    wide = ["STRING"] * 3 if choice == "text" else ["DATE", "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)"]
    assert shown == [*wide, "TIMESTAMP(3)"]


def _out_of_range(name: str, value: Any, kind: str = "int64") -> tuple[Any, str]:
    field = {"type": kind, "name": name, "field": "v"}
    row = declared_row(json.dumps({"fields": [{"field": "after", "fields": [field]}]}).encode())
    assert row is not None
    converted, wide = row.convert({"v": value}, "text")
    return converted["v"], str(wide.get("v", row.types["v"]))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("MicroTime", -45_296_000_000, "-12:34:56"),
        ("MicroTime", 3_020_399_000_000, "838:59:59"),
        ("MicroTime", 86_400_000_000, "24:00:00"),
        ("Time", 90_000_500, "25:00:00.5"),
        ("NanoTime", -1, "-00:00:00.000000001"),
        ("Date", -735_160, "-0043-03-15"),
        ("Date", -719_528, "0000-01-01"),
        ("Date", 2_932_897, "+10000-01-01"),
        ("Date", -2_147_472_691, "-infinity"),
        ("Timestamp", 253_402_300_800_000, "+10000-01-01 00:00:00"),
        ("Timestamp", 9_223_372_036_825_200, "infinity"),
        ("MicroTimestamp", -9_223_372_036_832_400_000, "-infinity"),
        ("MicroTimestamp", -62_135_596_800_000_001, "0000-12-31 23:59:59.999999"),
        ("ZonedTimestamp", "-0043-03-15T00:00:00Z", "-0043-03-15T00:00:00Z"),
    ],
)
def test_dates_and_times_out_of_range_are_texts(name: str, value: Any, text: str) -> None:
    assert _out_of_range(f"io.debezium.time.{name}", value) == (text, "STRING")


def test_only_what_is_out_of_range_is_text_also_in_arrays_and_other_values_are_malformed() -> None:
    assert _out_of_range("io.debezium.time.MicroTime", 1) == ("00:00:00.000001", "TIME(6)")
    with pytest.raises(MalformedMessageError, match="field v: no DATE can be"):
        _out_of_range("io.debezium.time.Date", "soon")
    items = {"type": "int32", "name": "io.debezium.time.Date"}
    schema = {"fields": [{"field": "after", "fields": [{"type": "array", "items": items, "field": "v"}]}]}
    row = declared_row(json.dumps(schema).encode())
    assert row is not None
    converted, wide = row.convert({"v": [0, None, 2_932_897]}, "text")
    assert (converted["v"], str(wide["v"])) == (["1970-01-01", None, "+10000-01-01"], "ARRAY<STRING>")


def test_a_value_that_was_not_sent_is_that_of_the_row_before() -> None:
    message = json.loads(MESSAGES["toasted"])
    message["before"] = {**message["after"], "big": "as it was"}
    message["op"] = "u"
    change = DebeziumReader("t").parse(json.dumps(message).encode())
    assert isinstance(change, TableChange)
    assert change.rows[0][1] == {**message["after"], "big": "as it was"}


def test_the_deletion_of_all_rows_is_a_change_without_rows() -> None:
    _, change = read("truncated")
    assert (change.table, change.operation, change.rows) == ("postgres.public.two", "t", ())


@pytest.mark.parametrize(
    ("name", "reason"),
    [("heartbeat", SkipReason.HEARTBEAT), ("begin", SkipReason.TRANSACTION), ("end", SkipReason.TRANSACTION)],
)
@pytest.mark.parametrize("has_schema", [True, False])
def test_what_is_no_change_is_skipped(name: str, reason: SkipReason, has_schema: bool) -> None:
    text = MESSAGES[name] if has_schema else json.dumps(json.loads(MESSAGES[name])["payload"])
    assert DebeziumReader("t", DebeziumInferenceOptions(schema_include=has_schema)).parse(text.encode()) is reason


def test_rows_of_tables_whose_identity_is_their_key_lack_what_the_database_does_not_send() -> None:
    _, change = read("key-only")
    assert (change.rows[0], change.lacks_old_row) == ((None, {"id": 1, "other": "z", "big": "b"}), True)
    # A NOT NULL column has its default, which says nothing
    assert rows("deleted") == ({"id": 1, "other": "x", "big": None}, None)


@pytest.mark.parametrize(("length", "size"), [("8", 1), ("12", 2), ("2147483647", 0)])
def test_bits_have_as_many_bytes_as_their_column(length: str, size: int) -> None:
    # As Debezium writes them, which leaves out what is above the highest bit that is set
    bits = {"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": length}, "field": "b"}
    row = declared_row(json.dumps({"fields": [{"field": "after", "fields": [bits]}]}).encode())
    assert row is not None
    for written in (b"", b"\x01"):
        converted, _ = row.convert({"b": base64.b64encode(written).decode()})
        assert base64.b64decode(converted["b"]) == written.ljust(size, b"\0")
