"""Numbers keep all of their digits on each path of a pipeline's rows: 38 in a DECIMAL, in keys, arrays and maps."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Context, Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import PipelineTable
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader, JsonInferenceOptions
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.jdbc.statements import RowStatements
from millrace_catalog.types import parse_schema
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.delta.rows import RowEncoder, read_rows_of
from millrace_cdc.connectors.jdbc.rows import ChunkEncoder, RowSettings
from millrace_cdc.connectors.kafka.encoder import EncoderSettings, RecordEncoder
from millrace_cdc.connectors.kafka.messages import MessageSettings
from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.values.lines import change_lines, parse_changes
from millrace_cdc.rows.arrow_rows import JsonColumns
from millrace_cdc.rows.change_encoding import TypedRowReader
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.image_values import ImageReader, TableImages, TransformedChanges
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.transform_programs import RuleColumns

DIGITS, SCALE = 38, 18
COLUMNS = f"id BIGINT, q DECIMAL({DIGITS}, {SCALE}), l ARRAY<DECIMAL({DIGITS}, {SCALE})>"
COLUMNS += f", m MAP<STRING, DECIMAL({DIGITS}, {SCALE})>, s STRING, x DOUBLE"
SCHEMA = parse_schema(COLUMNS)
TABLES = {"t": SourceTableSchema(COLUMNS, ("q",))}
MESSAGE = {"topic": "t", "partition": 0, "offset": 0, "timestamp": datetime(2024, 5, 6, tzinfo=UTC), "key": None}
MESSAGE_SCHEMA = pa.schema(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "key": pa.binary(),
        "value": pa.binary(),
    }
)
KEY = pa.schema([("q", pa.decimal128(DIGITS, SCALE))])
EXACT = Context(prec=100)

NUMBERS = st.integers(-(10**DIGITS) + 1, 10**DIGITS - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-SCALE, EXACT))


def row_text(number, double=0.1):
    """Return a row with a number in all columns that hold it, as a database's tool writes it."""
    text = format(number, "f")
    return f'{{"id":1,"q":{text},"l":[{text},null],"m":{{"k":{text}}},"s":"a","x":{double!r}}}'


def debezium(number):
    return f'{{"before":null,"after":{row_text(number)},"op":"c","source":{{"table":"t"}}}}'


def parsed(settings, *payloads):
    """Return the changes of messages, without the report behind them."""
    messages = [MESSAGE | {"offset": index, "value": payload.encode()} for index, payload in enumerate(payloads)]
    batch = pa.RecordBatch.from_pylist(messages, MESSAGE_SCHEMA)
    changes, *_ = ChangeParser(settings, TABLES).parse([batch])
    return changes


def converted(changes):
    (batch,) = ChangeConverter({"t": ("t",)}, TABLES).convert([changes])
    return batch


def inserted(*numbers):
    """Return insertions of rows as sinks get them."""
    return converted(parsed(ParserSettings("debezium-json", DebeziumInferenceOptions()), *map(debezium, numbers)))


def values(row):
    found = json.loads(row, parse_float=Decimal)
    return found["q"], found["l"], found["m"]


@given(NUMBERS)
def test_messages_are_read_with_all_digits(number):
    fixed = ParserSettings("json", JsonInferenceOptions(fixed_types=SCHEMA.columns))
    plain = ParserSettings("debezium-json", DebeziumInferenceOptions())
    for changes in (parsed(fixed, row_text(number)), parsed(plain, debezium(number))):
        (row,) = converted(changes).column("after").to_pylist()
        assert values(row) == (number, [number, None], {"k": number})
        assert json.loads(row)["x"] == 0.1


@given(NUMBERS)
def test_a_text_has_the_number_of_its_message(number):
    tables = {"t": SourceTableSchema("q STRING, l STRING", ())}
    changes = parsed(ParserSettings("json", JsonInferenceOptions(fixed_types=SCHEMA.columns)), row_text(number))
    (batch,) = ChangeConverter({"t": ("t",)}, tables).convert([changes])
    row = json.loads(batch.column("after")[0].as_py())
    assert Decimal(row["q"]) == number
    assert json.loads(row["l"], parse_float=Decimal) == [number, None]


@given(NUMBERS)
def test_a_transform_copies_columns_and_reads_values_with_all_digits(number):
    columns = tuple((name, name) for name in SCHEMA.names)
    table = TableImages(TABLES["t"], 0, ("q", "l"), frozenset({1}), (RuleColumns(columns, False),))
    (changes,) = ImageReader({"t": table}, frozenset()).read([inserted(number)])
    ((text, object_),) = changes.column("images").to_pylist()[0][1:]
    assert Decimal(text) == number
    assert json.loads(object_, parse_float=Decimal) == {"v": [number, None]}
    results = pa.array([[None, '{"rule":0}']], pa.list_(pa.string()))
    changes = changes.drop_columns(["program", "images"]).append_column("results", results)
    (made,) = TransformedChanges({"t": table}).make([changes])
    (row,) = converted(made).column("after").to_pylist()
    assert values(row) == (number, [number, None], {"k": number})


@given(NUMBERS)
def test_a_computed_value_has_all_digits(number):
    rule = RuleColumns((("id", "id"), ("q", None), ("l", None), ("m", "m"), ("s", "s"), ("x", "x")), False)
    table = TableImages(TABLES["t"], 0, ("q",), frozenset(), (rule,))
    changes = inserted(Decimal("1.5"))
    # As Spark's to_json writes them
    results = pa.array([[None, f'{{"rule":0,"v0":{number},"v1":[{number},null]}}']], pa.list_(pa.string()))
    (made,) = TransformedChanges({"t": table}).make([changes.append_column("results", results)])
    (row,) = converted(made).column("after").to_pylist()
    assert values(row) == (number, [number, None], {"k": Decimal("1.5")})


@given(NUMBERS, st.integers(1, 9))
def test_numbers_that_differ_in_the_last_digit_are_two_keys(number, difference):
    other = EXACT.add(number, Decimal(difference).scaleb(-SCALE, EXACT))
    if len(other.as_tuple().digits) > DIGITS:
        other = EXACT.subtract(number, Decimal(difference).scaleb(-SCALE, EXACT))
    final = final_changes(pa.table(inserted(number, other, number)), KEY)
    assert [values(row)[0] for row in final.upserts.column("after").to_pylist()] == [other, number]
    rows = RowRecoding(text_keys={"q": "DECIMAL"}).recode([row_text(number).encode(), row_text(other).encode()])
    assert [values(row)[0] for row in rows] == [number, other]


@given(NUMBERS)
def test_columns_of_files_have_all_digits(number):
    columns = JsonColumns(to_arrow_schema(SCHEMA))
    table = columns.read(inserted(number).column("after").to_pylist())
    assert [table.column(name)[0].as_py() for name in ("q", "l", "m")] == [number, [number, None], [("k", number)]]


@given(NUMBERS)
def test_rows_of_delta_have_all_digits(number):
    (chunk,) = RowEncoder({"t": to_arrow_schema(SCHEMA)}, {"t": KEY})("t", 0, pa.table(inserted(number)))
    table = read_rows_of(chunk.column("rows")[0].as_py())
    assert [table.column(name)[0].as_py() for name in ("q", "l", "m")] == [number, [number, None], [("k", number)]]


@given(NUMBERS)
def test_rows_of_databases_have_all_digits(number):
    dialect = SQLite()
    stored = dialect.stored_schema(SCHEMA)
    statements = RowStatements.of(dialect, "t", SCHEMA, stored, ("q",))
    settings = RowSettings({"t": statements.recoding}, {"t": KEY}, has_nul=True, database="SQLite", batch_rows=10)
    (chunk,) = ChunkEncoder(settings)("t", 0, pa.table(inserted(number)))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(dialect.create("t", stored, ("q",)))
        connection.execute(statements.upsert, (chunk.column("rows")[0].as_py(),))
        ((q, texts, inner),) = connection.execute("SELECT q, l, m FROM t")
    assert Decimal(q) == number
    assert [json.loads(text, parse_float=Decimal) for text in (texts, inner)] == [[number, None], {"k": number}]


@given(NUMBERS, st.sampled_from(["json", "csv"]))
def test_records_of_kafka_have_all_digits(number, key_format):
    tables = {"t": PipelineTable("t", to_spark_schema(SCHEMA), ("q",))}

    def record(**settings):
        messages = MessageSettings(key_format=key_format, **settings)
        (batch,) = RecordEncoder(EncoderSettings(messages, False, {"t": "t"}), tables).encode([inserted(number)])
        return batch.column("key")[0].as_py(), batch.column("value")[0].as_py()

    key, value = record(includes_schema=True)
    change = DebeziumReader("t", DebeziumInferenceOptions(schema_include=True)).parse(value)
    row = change.rows[0][1]
    assert [Decimal(text) for text in (row["q"], row["l"][0], row["m"]["k"])] == [number] * 3
    key_text = json.loads(key, parse_float=Decimal)["q"] if key_format == "json" else Decimal(key.decode())
    assert key_text == number
    _, value = record(value_format="canal-json")
    assert values(json.dumps(json.loads(value, parse_float=str)["data"][0]))[0] in (str(number), format(number, "f"))
    _, value = record(value_format="canal-protobuf")
    assert format(number, "f").encode() in value


@given(NUMBERS)
def test_lines_have_all_digits(number):
    (row,) = inserted(number).column("after").to_pylist()
    (message,) = parse_changes("\n".join(change_lines("t", "c", None, row)))
    change = TypedRowReader("t", FormatOptions()).parse(message)
    found = change.rows[0][1]
    assert [found["q"], found["l"], found["m"]] == [number, [number, None], {"k": number}]
