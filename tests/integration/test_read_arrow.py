"""Topics without Spark: the rows, splits and errors of `read_arrow` are those of a batch read by Spark."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
from datetime import UTC, datetime

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

import millrace
from millrace.errors import MessageError, MillraceError, UnknownTopicError
from millrace.spark.ddl import parse_ddl
from millrace_cli.commands.cat import cat as cat_command
from millrace_cli.commands.convert import convert as convert_command
from support.kafka import produce
from support.leftovers import running, wait_until_gone

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
RECORDS = 2_000
POSITION = "partition INT, offset BIGINT"
LINE = "id INT, t STRING, n DOUBLE"

TYPES = (
    "id BIGINT, b BOOLEAN, i INT, f FLOAT, d DOUBLE, dec DECIMAL(9, 2), s STRING, bin BINARY, day DATE, at TIMESTAMP, "
    "local TIMESTAMP_NTZ, l ARRAY<INT>, m MAP<STRING, BIGINT>, r STRUCT<x: INT, y: ARRAY<STRING>>"
)


def value(number):
    if number % 50 == 7:
        return {"id": number}
    return {
        "id": number,
        "b": number % 2 == 0,
        "i": -number,
        "f": number / 4,
        "d": number / 3,
        "dec": f"{number}.25",
        "s": f"text {number} ü",
        "bin": "AAEC",
        "day": "2026-03-04",
        "at": f"2026-03-29 02:{number % 60:02d}:00",
        "local": f"2026-03-29 02:{number % 60:02d}:00.5",
        "l": [number, None],
        "m": {"a": number},
        "r": {"x": number, "y": ["p", None]},
    }


def json_records():
    for number in range(RECORDS):
        headers = [("depart", b"toy" if number % 3 else b"book"), ("trace", b"%d" % number), ("trace", None)]
        yield {
            "key": json.dumps({"k": number}).encode(),
            "value": json.dumps(value(number)).encode(),
            "headers": headers if number % 5 else [],
            "timestamp": int(AT.timestamp() * 1000) + number,
        }


def changes():
    for number in range(300):
        row, before = {"id": number, "name": f"n{number}"}, {"id": number, "name": "old"}
        op, old, new = (("c", None, row), ("u", before, row), ("d", before, None))[number % 3]
        change = {"before": old, "after": new, "op": op, "ts_ms": 1_760_000_000_000, "source": {"table": "t"}}
        yield {"value": json.dumps(change).encode()}


def upserts():
    for number in range(300):
        key = number % 40
        deleted = number % 7 == 0
        yield {
            "key": json.dumps({"id": key}).encode(),
            "value": None if deleted else json.dumps({"id": key, "name": f"n{number}"}).encode(),
        }


def lines():
    return ({"value": f'{number},"a ""b"" {number}",{number}.5'.encode()} for number in range(300))


FEW_ERRORS = {"ingestion.ignore-errors": "true", "ingestion.error-tolerance.max-count": "3"}

READS = {
    "without a format": (json_records, {"includeHeaders": "true"}, None),
    "json": (json_records, {"format": "json"}, TYPES),
    "keys, headers and metadata": (
        json_records,
        {
            "value.format": "json",
            "key.format": "json",
            "key.fields": "k",
            "value.fields-include": "EXCEPT_KEY",
            "scan.header-filter": "depart:toy",
            "metadata.columns": "topic, partition, offset, timestamp, timestamp-type, headers, header-list AS listed",
            "columns": f"k INT, {TYPES}",
        },
        None,
    ),
    "inferred columns": (json_records, {"format": "json", "metadata.columns": "partition, offset"}, None),
    "csv": (lines, {"format": "csv", "metadata.columns": "partition, offset"}, f"{LINE}, {POSITION}"),
    "debezium": (
        changes,
        {"format": "debezium-json", "metadata.columns": "partition, offset, value.ingestion-timestamp AS at"},
        f"row_kind STRING, id BIGINT, name STRING, {POSITION}, at TIMESTAMP",
    ),
    "a table": (
        upserts,
        {"connector": "upsert-kafka", "key.format": "json", "key.fields": "id", "value.format": "json"},
        "row_kind STRING, id BIGINT, name STRING",
    ),
}


def spark_rows(spark, options, schema):
    reader = spark.read.format("millrace").options(**options)
    return (reader.schema(schema) if schema else reader).load()


def in_order(table):
    return sorted(table.to_pylist(), key=repr)


def check_equal(spark, options, schema=None):
    """Compare with Spark, and return the rows."""
    expected = spark_rows(spark, options, schema).toArrow()
    found = pa.table(millrace.read_arrow(options, schema))
    assert found.schema.names == expected.schema.names
    assert in_order(found) == in_order(expected)
    return found


@pytest.fixture
def topic(make_topic, broker):
    """Make a topic of records."""

    def make(records, partitions=3):
        name = make_topic(partitions)
        produce(broker.bootstrap_servers, name, records)
        return name

    return make


@pytest.mark.parametrize("case", READS)
def test_rows_are_those_of_a_read_by_spark(spark, connection, topic, case):
    records, options, schema = READS[case]
    found = check_equal(spark, {**connection, "topic": topic(records()), **options}, schema)
    assert found.num_rows >= 30
    assert all(column.null_count < len(column) for column in found.columns)


def test_rows_of_a_registrys_schemas_are_those_of_a_read_by_spark(spark, connection, make_topic, registry):
    options = {**connection, "topic": make_topic(2), "format": "avro-confluent", "avro-confluent.url": registry.url}
    rows = spark.range(500).selectExpr("id", "CAST(id AS DECIMAL(9, 2)) d", "array(id) l", "struct(id x) r")
    rows.write.format("millrace").options(**options).mode("append").save()

    assert check_equal(spark, options, rows.schema).num_rows == 500
    assert check_equal(spark, options).schema.names == ["id", "d", "l", "r"]


def test_start_and_stop_are_those_of_the_options(spark, connection, topic):
    name = topic(json_records(), 1)
    window = {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:100"}
    stop = {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": str(int(AT.timestamp() * 1000) + 1_500)}
    found = check_equal(spark, {**connection, "topic": name, **window, **stop}, "offset BIGINT, value BINARY")
    assert found["offset"].to_pylist() == list(range(100, 1_500))


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        ({"format": "json"}, "id BIGINT, nope BIGINT, s BIGINT"),
        pytest.param({"format": "json", **FEW_ERRORS}, "s BIGINT", marks=pytest.mark.nightly),
        ({"topic": "no-such-topic"}, None),
        ({"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:9,offset:1"}, None),
        ({"format": "json", "formt": "csv"}, "id BIGINT"),
        ({"format": "json", "metadata.columns": "offset"}, "id BIGINT"),
    ],
)
def test_errors_are_those_of_a_read_by_spark(spark, connection, topic, options, schema):
    given = {**connection, "topic": topic(json_records(), 1), **options}
    with pytest.raises(PySparkException) as of_spark:
        spark_rows(spark, given, schema).collect()
    with pytest.raises(MillraceError) as raised:
        list(millrace.read_arrow(given, schema))
    assert str(raised.value) in str(of_spark.value)


def test_skipped_messages_become_dead_letters(connection, topic, make_topic):
    letters = make_topic()
    collect = {"dirty-data.collector": "topic", "dirty-data.collector.topic": letters}
    options = {**connection, "topic": topic([{"value": b"{"}, {"value": b'{"id": 1}'}], 1), "format": "json"}
    reader = millrace.read_arrow({**options, "ingestion.ignore-errors": "true", **collect}, "id BIGINT")

    assert pa.table(reader).to_pylist() == [{"id": 1}]
    assert pa.table(millrace.read_arrow({**connection, "topic": letters}))["value"].to_pylist() == [b"{"]


def test_pickled_splits_are_read_by_another_process_each_record_once(connection, topic):
    options = {**connection, "topic": topic(json_records()), "format": "json", "scan.parallelism": "7"}
    reader = millrace.read_arrow({**options, "metadata.columns": "partition, offset"}, f"id BIGINT, {POSITION}")
    splits = reader.splits()
    assert len(splits) >= 7

    program = (
        "import pickle, sys, pyarrow as pa\n"
        "for split in pickle.load(sys.stdin.buffer):\n"
        "    for row in pa.table(split).to_pylist():\n"
        "        print(row['id'], row['partition'], row['offset'])\n"
    )
    run = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(splits), capture_output=True, check=True)

    elsewhere = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    here = [(row["id"], row["partition"], row["offset"]) for row in pa.table(reader).to_pylist()]
    assert sorted(elsewhere) == sorted(here)
    assert sorted(number for number, _, _ in here) == list(range(RECORDS))


def test_a_reader_is_a_snapshot_that_is_read_again(connection, topic, broker):
    name = topic(json_records(), 1)
    reader = millrace.read_arrow({**connection, "topic": name})
    assert sum(batch.num_rows for batch in reader) == RECORDS

    produce(broker.bootstrap_servers, name, [{"value": b"later"}])

    assert sum(batch.num_rows for batch in reader) == RECORDS
    assert pa.table(millrace.read_arrow({**connection, "topic": name})).num_rows == RECORDS + 1


def test_readers_of_the_same_options_do_not_disturb_each_other(connection, topic):
    options = {**connection, "topic": topic(json_records(), 1)}
    one, two = iter(millrace.read_arrow(options)), iter(millrace.read_arrow(options))
    rows = {0: 0, 1: 0}
    for first, second in zip(one, two, strict=True):
        rows[0] += first.num_rows
        rows[1] += second.num_rows
    assert rows == {0: RECORDS, 1: RECORDS}


def test_a_read_that_is_abandoned_leaves_no_client_and_no_paused_garbage_collection(connection, topic):
    reader = millrace.read_arrow({**connection, "topic": topic(json_records(), 1)})
    reader.splits()
    before = running()

    batches = iter(reader)
    assert next(batches).num_rows
    batches.close()

    assert gc.isenabled()
    assert running().threads <= before.threads
    wait_until_gone(before)


def test_an_error_reaches_a_program_that_iterates_and_one_that_takes_the_stream(connection, topic):
    options = {**connection, "topic": topic([{"value": b"{"}], 1), "format": "json"}
    reader = millrace.read_arrow(options, "id BIGINT")
    with pytest.raises(MessageError, match="partition 0, offset 0") as raised:
        list(reader)
    with pytest.raises(MessageError, match="partition 0, offset 0"):
        reader.read().read_all()
    with pytest.raises(pa.ArrowException) as of_arrow:
        pa.table(reader)
    assert str(raised.value) in str(of_arrow.value)
    assert str(of_arrow.value).count("File ") == 1
    with pytest.raises(UnknownTopicError, match="no topic"):
        millrace.read_arrow({**connection, "topic": "no-such-topic"}).splits()


def test_pandas_takes_it(connection, topic):
    reader = millrace.read_arrow({**connection, "topic": topic(lines(), 1), "format": "csv"}, LINE)
    assert reader.read().read_pandas()["id"].sum() == sum(range(300))


def test_polars_and_duckdb_take_it(connection, topic):
    name = topic(lines(), 1)

    def reader() -> millrace.ArrowReader:
        return millrace.read_arrow({**connection, "topic": name, "format": "csv"}, LINE)

    assert polars.DataFrame(reader())["id"].sum() == sum(range(300))
    rows = reader().read()  # noqa: F841 - DuckDB finds variables by their names
    assert duckdb.sql("SELECT sum(id) FROM rows").fetchall() == [(sum(range(300)),)]


def cat(connection, *arguments):
    given = ["--bootstrap-servers", connection["properties.bootstrap.servers"], *arguments]
    return CliRunner().invoke(cat_command, given)


def test_converted_options_of_other_connectors_open_a_topic(connection, topic):
    servers = connection["properties.bootstrap.servers"]
    name = topic([{"value": b"a"}, {"value": b"b"}], 1)
    texts = {
        "java": f"bootstrap.servers={servers}\nauto.offset.reset=earliest\nsession.timeout.ms=9000\n",
        "connect": json.dumps({"topics": name, "consumer.override.bootstrap.servers": servers}),
        "flink": f"WITH ('connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = '{servers}')",
        "spark": f'read.format("kafka").option("subscribe", "{name}").option("kafka.bootstrap.servers", "{servers}")',
    }
    for dialect, text in texts.items():
        ended = CliRunner().invoke(convert_command, ["--from", dialect], input=text)
        options = {"topic": name, **json.loads(ended.stdout)}
        assert pa.table(millrace.read_arrow(options))["value"].to_pylist() == [b"a", b"b"]


def test_cat_writes_all_rows_to_a_file(connection, topic, tmp_path):
    name, file = topic(json_records()), tmp_path / "rows.parquet"
    ended = cat(connection, name, "--format", "json", "--schema", "id BIGINT, s STRING", "-o", str(file))
    assert (ended.exit_code, ended.stderr) == (0, f"millrace: 2,000 rows in {file}\n")
    expected = millrace.read_arrow({**connection, "topic": name, "format": "json"}, "id BIGINT, s STRING")
    assert pq.read_table(file) == pa.table(expected)


def test_cat_guesses_the_format_and_prints_the_rows_of_a_condition(connection, topic):
    ended = cat(connection, topic(json_records()), "--where", "i < -1990 AND b = true", "--limit", "2", "--metadata")
    assert ended.exit_code == 0
    assert [json.loads(line)["id"] % 2 for line in ended.stdout.splitlines()] == [0, 0]
    assert {"s", "r", "message_key", "headers", "offset"} <= json.loads(ended.stdout.splitlines()[0]).keys()
    assert ended.stderr == "millrace: reading with format json: the messages are JSON objects\n"


def test_cat_ends_with_a_malformed_message_and_without_a_file(connection, topic, tmp_path):
    name = topic([{"value": b'{"id": 1}'}, {"value": b"{"}], 1)
    options = ["--format", "json", "--schema", "id BIGINT"]
    ended = cat(connection, name, *options, "-o", str(tmp_path / "rows.csv"))
    assert ended.exit_code == 1
    assert f"malformed message in topic '{name}', partition 0, offset 1" in str(ended.exception)
    assert list(tmp_path.iterdir()) == []

    tolerant = cat(connection, name, *options, "--option", "ingestion.ignore-errors=true")
    assert (tolerant.exit_code, tolerant.stdout) == (0, '{"id": 1}\n')


# getrusage would count the memory of the process that started this one, too
MEASURED = """
import sys, millrace
from pathlib import Path
reader = millrace.read_arrow({"properties.bootstrap.servers": sys.argv[1], "topic": sys.argv[2]}, "value BINARY")
rows = size = 0
for batch in reader:
    rows, size = rows + batch.num_rows, size + batch.nbytes
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(rows, size, int(status["VmHWM"].split()[0]) * 1024)
"""


@pytest.mark.nightly
def test_memory_is_bounded_whatever_the_size_of_the_topic(connection, topic):
    name = topic(({"value": bytes(10_000)} for _ in range(100_000)), 1)
    servers = connection["properties.bootstrap.servers"]
    run = subprocess.run([sys.executable, "-c", MEASURED, servers, name], capture_output=True, text=True, check=True)
    rows, size, most = map(int, run.stdout.split())
    assert (rows, size >= 1_000_000_000) == (100_000, True)
    assert most < 400 << 20


@pytest.mark.parametrize(
    "text",
    [
        "a BOOLEAN, b TINYINT, c BYTE, d SMALLINT, e SHORT, f INT, g INTEGER, h BIGINT, i LONG, j FLOAT, k REAL",
        "a DOUBLE, b DECIMAL, c DEC(5), d NUMERIC(7, 3), e STRING, f BINARY, g DATE, h TIMESTAMP, i TIMESTAMP_LTZ",
        "a TIMESTAMP_NTZ, b VARIANT, c VOID, d time, e TIME(2)",
        "`a``b`: int not null, c array<map<string, struct<x: int not null, `y z` array<int>>>> comment 'it\\'s'",
        "a STRUCT<>, b array<struct<>>, c VARCHAR(9), d CHAR(1), e CHARACTER(2)",
        "1a INT COMMENT \"two words\", _b BIGINT NOT NULL COMMENT 'c'",
    ],
)
@pytest.mark.usefixtures("spark")
def test_columns_are_parsed_as_spark_does(text):
    assert parse_ddl(text) == StructType.fromDDL(text)
