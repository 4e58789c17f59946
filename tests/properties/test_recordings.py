"""Recordings: what is written to a file, of either form, is read from it; masks leave all else as it is."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_cli.recordings.contents import COLUMNS, RecordedSchema, RecordedTopic, RegisteredSchema
from millrace_cli.recordings.files import new_recording, open_recording
from millrace_cli.recordings.masking.message_masks import parse_masks

FORMS = ["parquet", "jsonl"]
LAST_MILLIS = 2**63 // 1_000_000
"""The last time that Arrow has in microseconds, and Kafka in ms."""

PAYLOADS = st.none() | st.binary(max_size=20) | st.text(max_size=20).map(str.encode)
HEADERS = st.none() | st.lists(st.fixed_dictionaries({"key": st.text(max_size=5), "value": PAYLOADS}), max_size=3)
MESSAGES = st.fixed_dictionaries(
    {
        "key": PAYLOADS,
        "value": PAYLOADS,
        "topic": st.just("orders"),
        "partition": st.integers(0, 4),
        "offset": st.integers(0, 2**62),
        "timestamp": st.none() | st.integers(0, LAST_MILLIS).map(lambda millis: millis * 1000),
        "timestampType": st.integers(-1, 1),
        "headers": HEADERS,
    }
)
SCHEMAS = st.recursive(
    st.builds(RegisteredSchema, st.text(max_size=5), st.sampled_from(["AVRO", "JSON"]), st.text(max_size=9)),
    lambda inner: st.builds(
        RegisteredSchema,
        st.text(max_size=5),
        st.just("AVRO"),
        st.text(),
        st.lists(st.tuples(st.text(), inner)).map(tuple),
    ),
    max_leaves=4,
)
RECORDED_SCHEMAS = st.builds(RecordedSchema, st.sampled_from(["key", "value"]), st.integers(0, 2**32 - 1), SCHEMAS)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def table(messages: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(messages, COLUMNS)


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(MESSAGES, max_size=8), st.lists(MESSAGES, max_size=8), st.lists(RECORDED_SCHEMAS, max_size=3))
def test_a_file_has_the_messages_and_schemas_that_were_written(
    form: str, first: list[dict[str, Any]], second: list[dict[str, Any]], schemas: list[RecordedSchema]
) -> None:
    topic = RecordedTopic("orders", 5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"orders.{form}")
        with new_recording(path, topic) as writer:
            for schema in schemas:
                writer.add_schema(schema)
            writer.write(table(first))
            writer.write(table(second))
        recording = open_recording(path)

        assert pa.Table.from_batches(recording.batches(), COLUMNS) == table(first + second)
        assert (recording.topic, recording.schemas) == (topic, tuple(schemas))
        assert recording.extent.messages == len(first + second)
        in_order = [(message.partition, message.key, message.value) for message in recording.messages()]
        for partition in range(5):
            written = [(message["partition"], message["key"], message["value"]) for message in first + second]
            of_partition = [message for message in written if message[0] == partition]
            assert [message for message in in_order if message[0] == partition] == of_partition


@given(JSON_VALUES, st.sampled_from([None, 1]), st.booleans())
def test_masks_change_nothing_where_there_is_nothing_to_mask(value: Any, indent: int | None, is_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii).replace("@", "").encode()
    message = {"key": text, "value": text, "partition": 0, "offset": 0, "headers": [{"key": "h", "value": text}]}
    assert parse_masks("email,field:no such field").apply(table([message])) == table([message])
