"""Protobuf through Spark to the real broker and back."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import pytest
from google.protobuf import timestamp_pb2
from pyspark.errors import AnalysisException, PySparkException

from support.kafka import consume, produce

PROTO = """
syntax = "proto3";
package {package};
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Kind {{ PLAIN = 0; GIFT = 1; }}
message Item {{ string name = 1; double price = 2; }}
message Order {{
  int64 id = 1;
  uint64 code = 2;
  Kind kind = 3;
  repeated Item items = 4;
  map<string, Item> extras = 5;
  google.protobuf.Timestamp at = 6;
  google.protobuf.Int32Value rating = 7;
  optional string note = 8;
  oneof payment {{ string card = 9; bytes cash = 10; }}
}}
"""
ORDER = (
    "id BIGINT, code DECIMAL(20,0), kind STRING, items ARRAY<STRUCT<name: STRING, price: DOUBLE>>, "
    "extras MAP<STRING, STRUCT<name: STRING, price: DOUBLE>>, at TIMESTAMP, rating INT, note STRING, card STRING, "
    "cash BINARY"
)


@pytest.fixture
def shop(tmp_path):
    """Make a folder with <name>_pb2.py and <name>.desc."""

    def make(name):
        (tmp_path / f"{name}.proto").write_text(PROTO.format(package=name))
        outputs = [f"--python_out={tmp_path}", f"--descriptor_set_out={tmp_path / name}.desc", "--include_imports"]
        protoc = [sys.executable, "-m", "grpc_tools.protoc", f"-I{tmp_path}"]
        subprocess.run([*protoc, *outputs, f"{name}.proto"], check=True)
        return tmp_path

    return make


def orders(spark):
    at = dt.datetime(2024, 5, 1, 12, 0, 0, 123456)
    rows = [
        (1, Decimal(2**64 - 1), "GIFT", [("a", 0.5)], {"x": ("y", 1.0)}, at, 5, "", "4711", None),
        (-1, Decimal(0), "PLAIN", None, None, None, None, None, None, bytearray(b"\x00")),
    ]
    return spark.createDataFrame(rows, ORDER).coalesce(1)


@pytest.mark.parametrize("way", ["file", "class"])
def test_what_is_written_is_read(spark, connection, broker, make_topic, shop, way):
    topic, name = make_topic(), f"shop_{way}"
    folder = shop(name)
    if way == "file":
        given = {"message-class-name": f"{name}.Order", "descriptor-set": str(folder / f"{name}.desc")}
    else:
        spark.addArtifact(str(folder / f"{name}_pb2.py"), pyfile=True)
        given = {"message-class-name": f"{name}_pb2.Order"}
    options = {**connection, "topic": topic, "format": "protobuf"}
    options |= {f"protobuf.{option}": value for option, value in given.items()}

    orders(spark).write.format("millrace").options(**options).mode("append").save()

    assert [len(message.value()) > 10 for message in consume(broker.bootstrap_servers, topic)] == [True, True]
    for schema in (ORDER, None):
        reader = spark.read.format("millrace").options(**options)
        read = (reader.schema(schema) if schema else reader).load()
        assert read.sort("id").collect() == orders(spark).select(read.columns).sort("id").collect()
    some = spark.read.format("millrace").options(**options).schema("note STRING, kind INT").load()
    assert {tuple(row) for row in some.collect()} == {(None, 0), ("", 1)}


def test_messages_of_another_producer_are_read_and_malformed_ones_are_reported(spark, connection, broker, make_topic):
    topic = make_topic()
    messages = [timestamp_pb2.Timestamp(seconds=n, nanos=n).SerializeToString() for n in range(1_000)]
    messages[500] = b"\x08"
    produce(broker.bootstrap_servers, topic, [{"value": message} for message in messages])
    options = {
        **connection,
        "topic": topic,
        "format": "protobuf",
        "protobuf.message-class-name": "google.protobuf.timestamp_pb2:Timestamp",
    }
    reader = spark.read.format("millrace").options(**options).schema("seconds BIGINT")

    with pytest.raises(PySparkException) as caught:
        reader.load().collect()

    text = str(caught.value)
    assert f"malformed message in topic '{topic}', partition 0, offset 500: Error parsing message" in text
    assert "To let such messages pass, set 'protobuf.ignore-parse-errors' to true" in text
    read = reader.option("protobuf.ignore-parse-errors", "true").load()
    assert [row.seconds for row in read.sort("seconds").collect()] == [n for n in range(1_000) if n != 500]


def test_columns_that_do_not_fit_are_refused_before_a_job_starts(spark, connection, make_topic):
    options = {
        **connection,
        "topic": make_topic(),
        "format": "protobuf",
        "protobuf.message-class-name": "google.protobuf.timestamp_pb2.Timestamp",
    }
    reader = spark.read.format("millrace").options(**options).schema("seconds STRING, nanoes INT")

    with pytest.raises((AnalysisException, PySparkException)) as caught:
        reader.load().collect()

    text = str(caught.value)
    assert "column seconds is STRING, but field google.protobuf.Timestamp.seconds is int64: use BIGINT" in text
    assert "column nanoes has no field in message google.protobuf.Timestamp; did you mean 'nanos'?" in text
