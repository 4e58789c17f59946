"""Files of recordings: their columns for other programs, files of other programs and of people, mistakes."""

from __future__ import annotations

import base64
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq
import pytest

from millrace_cli.errors import CommandError
from millrace_cli.recordings.contents import COLUMNS, RecordedSchema, RecordedTopic, Recording, RegisteredSchema
from millrace_cli.recordings.files import new_recording, open_recording

AT = datetime(2026, 11, 27, 15, 0, 5, 123_000, tzinfo=UTC)
MESSAGES = [
    {
        "key": b"k",
        "value": '{"name": "ä\u2028"}'.encode(),
        "topic": "orders",
        "partition": 1,
        "offset": 7,
        "timestamp": AT,
        "timestampType": 0,
        "headers": [{"key": "a", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b"\xff"}],
    },
    {
        "key": None,
        "value": b"\0\0\0\0\7x",
        "topic": "orders",
        "partition": 2,
        "offset": 3,
        "timestamp": None,
        "timestampType": -1,
        "headers": None,
    },
]
SCHEMA = RecordedSchema("value", 7, RegisteredSchema("orders-value", "AVRO", '"string"'))


def times_open(path: Path) -> int:
    return sum(file.path == str(path) for file in psutil.Process().open_files())


def write(path: Path) -> Recording:
    with new_recording(path, RecordedTopic("orders", 4)) as writer:
        writer.add_schema(SCHEMA)
        writer.write(pa.Table.from_pylist(MESSAGES, COLUMNS))
    return open_recording(path)


def test_a_parquet_file_is_read_by_others_with_the_columns_of_a_read_without_a_format(tmp_path: Path) -> None:
    write(tmp_path / "orders.parquet")
    table = pq.read_table(tmp_path / "orders.parquet")
    assert table.to_pylist() == MESSAGES
    assert table.schema.names == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"),
    ]
    content = json.loads(pq.read_metadata(tmp_path / "orders.parquet").metadata[b"millrace.recording"])
    assert (content["topic"], content["partitions"], content["schemas"]) == ("orders", 4, [SCHEMA.to_json()])


def test_json_lines_name_what_they_hold_and_are_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "orders.jsonl"
    write(path)
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert lines[:2] == [
        {"recording": {"version": 1, "topic": "orders", "partitions": 4}},
        {"schema": {"part": "value", "id": 7, "subject": "orders-value", "type": "AVRO", "schema": '"string"'}},
    ]
    assert lines[2] == {
        "topic": "orders",
        "partition": 1,
        "offset": 7,
        "timestamp": "2026-11-27T15:00:05.123Z",
        "timestampType": 0,
        "key": "k",
        "headers": [{"key": "a", "value": "1"}, {"key": "a", "value": None}, {"key": "b", "value_base64": "/w=="}],
        "value": '{"name": "ä\u2028"}',
    }
    assert (lines[3]["key"], lines[3]["value_base64"]) == (None, base64.b64encode(b"\0\0\0\0\7x").decode())
    read = pj.read_json(path).to_pylist()
    assert [row["value"] for row in read if row["offset"] is not None] == ['{"name": "ä\u2028"}', None]


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_messages_come_by_their_timestamps_and_each_partition_in_order(form: str, tmp_path: Path) -> None:
    times = {0: [10, 40, 30, 60], 1: [20, 50, None]}
    rows = [
        {
            "partition": partition,
            "offset": offset,
            "value": b"%d-%d" % (partition, offset),
            "timestamp": time and time * 1000,
        }
        for partition, numbers in times.items()
        for offset, time in enumerate(numbers)
    ]
    with new_recording(tmp_path / f"r.{form}", RecordedTopic("orders", 2)) as writer:
        writer.write(pa.Table.from_pylist(rows, COLUMNS))
    recording = open_recording(tmp_path / f"r.{form}")
    assert [message.value for message in recording.messages()] == [
        *(b"0-0", b"1-0", b"0-1", b"0-2", b"1-1", b"1-2", b"0-3"),
    ]
    extent = recording.extent
    assert (extent.messages, extent.partitions, extent.oldest, extent.newest) == (7, (0, 1), 10, 60)


def test_a_recording_is_read_in_parts(tmp_path: Path) -> None:
    rows = [
        {"partition": number % 3, "offset": number, "value": bytes(100), "timestamp": number} for number in range(9000)
    ]
    rows.sort(key=lambda row: row["partition"])
    for form in ("parquet", "jsonl"):
        with new_recording(tmp_path / f"r.{form}", RecordedTopic("orders", 3)) as writer:
            writer.write(pa.Table.from_pylist(rows, COLUMNS))
        recording = open_recording(tmp_path / f"r.{form}")
        assert max(batch.num_rows for batch in recording.batches()) <= 1000
        assert sum(batch.num_rows for batch in recording.batches(1)) == 3000


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_large_messages_come_in_small_batches_from_a_file_that_is_open_once(form: str, tmp_path: Path) -> None:
    rows = [
        {"partition": number % 3, "offset": number, "value": random.Random(number).randbytes(1 << 20)}
        for number in range(24)
    ]
    with new_recording(tmp_path / f"r.{form}", RecordedTopic("orders", 3)) as writer:
        writer.write(pa.Table.from_pylist(rows, COLUMNS))
    recording = open_recording(tmp_path / f"r.{form}")
    opened = times_open(tmp_path / f"r.{form}")
    partitions = [recording.batches(partition) for partition in recording.extent.partitions]
    first = [next(batches) for batches in partitions]
    assert times_open(tmp_path / f"r.{form}") == opened <= 1
    assert max(batch.num_rows for batch in first) <= 4
    for partition, batches in enumerate(partitions):
        values = [*first[partition].column("value").to_pylist(), *(v for b in batches for v in b["value"].to_pylist())]
        assert values == [row["value"] for row in rows if row["partition"] == partition]


def test_lines_may_be_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "orders.jsonl"
    path.write_text('{"value": "a", "timestamp": "2026-11-27T16:00:05.123+01:00"}\n\n{"key": "k", "value": null}\n')
    recording = open_recording(path)
    assert (recording.topic, recording.partition_count) == (RecordedTopic(), 1)
    assert [(message.key, message.value) for message in recording.messages()] == [(None, b"a"), (b"k", None)]
    assert recording.extent.newest == int(AT.timestamp() * 1000)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: Expecting property name"),
        ("[1]", "line 2: expected a JSON object"),
        ('{"key": "k"}', "line 2: 'value' is missing"),
        ('{"value": {"id": 1}}', 'line 2: value is {"id": 1}, expected str'),
        ('{"value": "a", "partition": "1"}', 'line 2: partition is "1", expected int'),
        ('{"value": "a", "keys": "1"}', "line 2: there is no field 'keys' in messages; expected some of headers, key,"),
        ('{"value_base64": "?"}', "line 2: value_base64 is not base64"),
        ('{"value": "a", "timestamp": "2026-11-27 16:00"}', "line 2: timestamp '2026-11-27 16:00' has no time zone"),
        ('{"value": "a", "timestamp": 9223372036854775807}', "line 2: timestamp is 9223372036854775807, expected -92"),
        ('{"value": "a", "partition": 2147483648}', "line 2: partition is 2147483648, expected 0 to 2147483647"),
        ('{"value": "a", "partition": -1}', "line 2: partition is -1, expected 0 to 2147483647"),
        ('{"value": "a", "headers": [{"key": null, "value": "1"}]}', "line 2: the key of a header is null, expected"),
        ('{"value": "a", "headers": [1]}', "line 2: a header is 1, expected a JSON object with key and value"),
        ('{"value": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 2: objects and lists are nested too deeply"),
        ('{"recording": {"version": 2}}', "was recorded by a newer version of millrace-cli"),
    ],
)
def test_a_wrong_line_is_told(line: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.jsonl"
    path.write_text(f'{{"value": "a"}}\n{line}\n')
    with pytest.raises(CommandError) as error:
        open_recording(path)
    assert problem in error.value.message


def test_a_parquet_file_of_another_program_is_a_recording_if_it_has_the_columns(tmp_path: Path) -> None:
    times = pa.array([AT.replace(tzinfo=None)], pa.timestamp("ns"))
    columns = {
        "key": [b"k"],
        "value": [b"v"],
        "partition": pa.array([3], pa.int32()),
        "offset": [0],
        "timestamp": times,
    }
    pq.write_table(pa.table(columns), tmp_path / "spark.parquet")
    recording = open_recording(tmp_path / "spark.parquet")
    (message,) = recording.messages()
    assert (message.key, message.headers, message.timestamp) == (b"k", [], int(AT.timestamp() * 1000))
    assert (recording.topic.name, recording.partition_count) == (None, 4)

    pq.write_table(pa.table({"value": [b"v"], "offset": [0]}), tmp_path / "rows.parquet")
    with pytest.raises(CommandError, match="lacks the columns of messages key, partition, timestamp: record a topic"):
        open_recording(tmp_path / "rows.parquet")
    (tmp_path / "text.parquet").write_text("x")
    with pytest.raises(CommandError, match="cannot be read as Parquet"):
        open_recording(tmp_path / "text.parquet")


@pytest.mark.parametrize(
    ("column", "values", "problem"),
    [
        ("timestamp", pa.array([1_764_255_605_123]), "the column timestamp with the type int64, expected TIMESTAMP"),
        ("timestamp", pa.array(["2026-11-27"]), "the column timestamp with the type string, expected TIMESTAMP"),
        ("partition", pa.array(["3"]), "the column partition with the type string, expected INT"),
    ],
)
def test_a_parquet_file_with_a_column_of_another_type_is_refused(
    column: str, values: pa.Array, problem: str, tmp_path: Path
) -> None:
    columns = {"key": [b"k"], "value": [b"v"], "partition": [3], "offset": [0], "timestamp": pa.array([AT])}
    pq.write_table(pa.table({**columns, column: values}), tmp_path / "other.parquet")
    with pytest.raises(CommandError) as error:
        open_recording(tmp_path / "other.parquet")
    assert problem in error.value.message


def test_nanoseconds_become_the_microsecond_that_they_are_in(tmp_path: Path) -> None:
    times = pa.array([1_999, -1, None], pa.timestamp("ns"))
    columns = {"key": [b"k"] * 3, "value": [b"v"] * 3, "partition": [0] * 3, "offset": [0, 1, 2], "timestamp": times}
    pq.write_table(pa.table(columns), tmp_path / "spark.parquet")
    recording = open_recording(tmp_path / "spark.parquet")
    (batch,) = recording.batches()
    assert batch.column("timestamp").cast(pa.int64()).to_pylist() == [1, -1, None]
    assert (recording.extent.oldest, recording.extent.without_time) == (-1, 1)


def test_messages_without_a_timestamp_are_counted(tmp_path: Path) -> None:
    for form in ("parquet", "jsonl"):
        assert write(tmp_path / f"orders.{form}").extent.without_time == 1


def test_other_endings_are_refused_and_a_failure_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"expected a file that ends with \.parquet or \.jsonl"):
        open_recording(tmp_path / "orders.csv")

    def fail() -> Any:
        with new_recording(tmp_path / "orders.parquet", RecordedTopic()):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []
