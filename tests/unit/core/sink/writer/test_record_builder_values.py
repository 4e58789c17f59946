from __future__ import annotations

import json

import pyarrow as pa
import pytest

from millrace.configuration import SinkConfig
from millrace.contracts import HEADERS, Decoder, Encoder, Format, Payloads, SerializationContext
from millrace.errors import MessageError
from millrace.sink.writer.record_builder import record_builder_for
from support.records import build_records, refused_rows, sink_config, values_of

VALUE = pa.schema([("value", pa.binary())])
ROWS = pa.record_batch({"value": pa.array([b"a", None])})
KAFKA_ROWS = pa.record_batch(
    {
        "key": pa.array([b"1", None, b"3"]),
        "value": pa.array([b"a", b"b", None]),
        "topic": pa.array(["x", "y", "x"]),
        "partition": pa.array([0, None, 2], pa.int32()),
        "headers": pa.array([[{"key": "h", "value": b"1"}], [], None], HEADERS),
        "timestamp": pa.array([1_000_000, None, 3_000_000], pa.timestamp("us", "UTC")),
    }
)
TYPED = pa.record_batch({"id": [1, 2, 3], "target": ["x", "y", "x"], "at": [10, None, 30], "k": [b"1", None, b"3"]})
METADATA = "topic AS target, timestamp AS at, __raw_key__ AS k"


def pattern(text: str, **options: str) -> SinkConfig:
    return sink_config(**{"topic-pattern": text}, **options)


def test_rows_of_kafka_columns_are_written_as_they_are() -> None:
    (found,) = build_records(sink_config(topic="orders"), ROWS)
    assert (found.topic, values_of(found), found.is_values_only) == ("orders", [b"a", None], True)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_text_is_written_as_utf8(kind: pa.DataType) -> None:
    rows = pa.record_batch({"value": pa.array(["ü", None]).cast(kind)})
    (found,) = build_records(sink_config(topic="orders"), rows)
    assert values_of(found) == ["ü".encode(), None]


def test_rows_go_to_the_topics_that_they_name_each_with_all_of_its_columns() -> None:
    for config in (sink_config(), sink_config(topic="y;x"), pattern("[xy]")):
        x, y = build_records(config, KAFKA_ROWS)
        assert (x.topic, values_of(x), list(x.keys.to_list())) == ("x", [b"a", None], [b"1", b"3"])
        assert (x.headers, x.partitions.to_pylist()) == ([[("h", b"1")], []], [0, 2])
        assert x.timestamps.to_pylist() == [1_000, 3_000]
        assert (y.topic, values_of(y), list(y.keys.to_list())) == ("y", [b"b"], [None])
        assert (y.headers, y.partitions.to_pylist(), y.timestamps.to_pylist()) == ([[]], [None], [None])


def test_one_topic_wins_over_a_column_topic_as_in_sparks_own_connector() -> None:
    rows = pa.record_batch({"value": pa.array([b"a", b"b"]), "topic": pa.array(["x", None])})
    (found,) = build_records(sink_config(topic="orders"), rows)
    assert (found.topic, len(found)) == ("orders", 2)


def test_a_column_that_is_named_as_metadata_chooses_without_a_format_too() -> None:
    config = sink_config(topic="x", metadata_columns="topic")
    rows = pa.record_batch({"value": pa.array([b"a", b"b"]), "topic": pa.array(["x", "x"])})
    (found,) = build_records(config, rows)
    assert (found.topic, values_of(found)) == ("x", [b"a", b"b"])
    with pytest.raises(MessageError, match="a row cannot go to topic 'y'"):
        build_records(config, KAFKA_ROWS.select(["value", "topic"]))


@pytest.mark.parametrize(
    "config", [sink_config(topic="x;z"), pattern("[xz]"), sink_config(topic="x", metadata_columns="topic")]
)
def test_nothing_of_a_batch_is_written_when_a_row_names_another_topic(config: SinkConfig) -> None:
    with pytest.raises(MessageError, match="a row cannot go to topic 'y', which its column 'topic' names"):
        next(record_builder_for(config, KAFKA_ROWS.schema).build(KAFKA_ROWS))


def test_rows_with_a_format_are_encoded_by_it() -> None:
    batch = pa.record_batch({"id": pa.array([1], pa.int64())})
    (found,) = build_records(sink_config(topic="orders", format="json"), batch)
    assert (found.topic, values_of(found), found.is_values_only) == ("orders", [b'{"id":1}'], True)


def test_a_format_writes_what_is_not_metadata() -> None:
    x, y = build_records(sink_config(topic="x;y", format="json", metadata_columns=METADATA), TYPED)
    assert (x.topic, values_of(x), list(x.keys.to_list())) == ("x", [b'{"id":1}', b'{"id":3}'], [b"1", b"3"])
    assert x.timestamps.to_pylist() == [10, 30]
    assert (y.topic, values_of(y), y.timestamps.to_pylist()) == ("y", [b'{"id":2}'], [None])


def test_columns_that_are_not_named_as_metadata_are_part_of_the_value_whatever_their_names() -> None:
    rows = pa.record_batch({"topic": ["a"], "partition": [7], "timestamp": ["b"], "headers": ["c"]})
    (found,) = build_records(sink_config(topic="orders", format="json"), rows)
    assert json.loads(values_of(found)[0]) == rows.to_pylist()[0]
    assert found.is_values_only


@pytest.mark.parametrize(
    "config", [sink_config(format="json", metadata_columns=METADATA), sink_config(metadata_columns="topic")]
)
def test_without_the_option_topic_a_column_names_any_topic(config: SinkConfig) -> None:
    rows = TYPED if config.value_format else KAFKA_ROWS
    assert [found.topic for found in build_records(config, rows)] == ["x", "y"]


def test_a_column_chooses_with_a_format_though_there_is_one_topic() -> None:
    config = sink_config(topic="x", format="json", metadata_columns=METADATA)
    (found,) = build_records(config, TYPED.take(pa.array([0, 2])))
    assert (found.topic, values_of(found)) == ("x", [b'{"id":1}', b'{"id":3}'])
    with pytest.raises(MessageError, match=r"a row cannot go to topic 'y'.*: option 'topic' permits 'x'"):
        build_records(config, TYPED)


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
@pytest.mark.parametrize("choice", [{"topic": "a;b"}, {"topic-pattern": "a.*"}])
def test_several_topics_need_a_column_that_chooses(options: dict[str, str], choice: dict[str, str]) -> None:
    assert "so that a column must choose for each row: add a STRING column" in refused_rows(
        sink_config(**choice, **options), VALUE
    )


def test_a_column_topic_is_no_choice_with_a_format_unless_it_is_named_as_metadata() -> None:
    schema = pa.schema([("topic", pa.string()), ("id", pa.int64())])
    text = "add a STRING column and name it in 'metadata.columns', as topic AS target"
    assert text in refused_rows(sink_config(format="json"), schema)
    assert text in refused_rows(sink_config(topic="a;b", format="json"), schema)


@pytest.mark.parametrize("options", [{"subscribe": "a"}, {"subscribePattern": "a.*"}])
def test_what_is_subscribed_to_is_never_written_to(options: dict[str, str]) -> None:
    assert "option 'topic' is required, such as 'orders'" in refused_rows(sink_config(**options), VALUE)


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
def test_a_raw_value_is_written_as_it_is(options: dict[str, str]) -> None:
    rows = pa.record_batch({"raw": pa.array([b"{", None, b""]), "k": pa.array([None, b"", b"k"])})
    config = sink_config(topic="orders", metadata_columns="__raw_value__ AS raw, __raw_key__ AS k", **options)
    (found,) = build_records(config, rows)
    assert (values_of(found), list(found.keys.to_list())) == ([b"{", None, b""], [None, b"", b"k"])


def test_a_raw_value_leaves_nothing_to_a_format() -> None:
    schema = pa.schema([("id", pa.int64()), ("raw", pa.binary()), ("name", pa.string())])
    config = sink_config(topic="orders", format="json", metadata_columns="__raw_value__ AS raw")
    assert refused_rows(config, schema) == (
        "metadata column 'raw' (__raw_value__) is the whole value, so no other column can be written: drop id, name, "
        "or the entry of __raw_value__ in the option 'metadata.columns'"
    )


def test_a_format_needs_columns_of_its_own() -> None:
    config = sink_config(topic="orders", format="json", metadata_columns="__raw_key__ AS k")
    assert refused_rows(config, pa.schema([("k", pa.binary())])) == (
        "no column is left for format 'json': all are named in the option 'metadata.columns'. Add columns for the "
        "value, or name one that is the whole value, as __raw_value__ AS value"
    )


def test_columns_that_cannot_be_written_are_refused() -> None:
    assert "column 'id' cannot be written" in refused_rows(sink_config(topic="orders"), pa.schema([("id", pa.int64())]))


@pytest.mark.parametrize("options", [{}, {"topic": "x;y"}])
def test_no_rows_are_no_records(options: dict[str, str]) -> None:
    assert build_records(sink_config(**options), KAFKA_ROWS.slice(0, 0)) == []


class NamesItsTopic(Format):
    """Write the subject that its encoder is for."""

    depends_on_topic = True

    def decoder(self, schema: pa.Schema) -> Decoder:
        raise NotImplementedError

    def encoder(self, schema: pa.Schema) -> Encoder:
        return _Constant(b"?")

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        return _Constant(context.subject.encode())


class _Constant(Encoder):
    def __init__(self, value: bytes) -> None:
        self._value = value

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        return Payloads([self._value] * rows.num_rows)


def test_a_format_that_depends_on_the_topic_encodes_topic_by_topic() -> None:
    name = f"{__name__}:NamesItsTopic"
    x, y = build_records(sink_config(format=name, metadata_columns=METADATA), TYPED)
    assert (x.topic, values_of(x), x.timestamps.to_pylist()) == ("x", [b"x-value"] * 2, [10, 30])
    assert (y.topic, values_of(y), list(y.keys.to_list())) == ("y", [b"y-value"], [None])
    (found,) = build_records(sink_config(format=name, topic="z"), ROWS)
    assert (found.topic, values_of(found)) == ("z", [b"z-value"] * 2)


def test_a_builder_is_made_once_for_a_configuration_and_schema() -> None:
    assert record_builder_for(sink_config(topic="a"), VALUE) is record_builder_for(
        sink_config(topic="a"), pa.schema([("value", pa.binary())])
    )
    assert record_builder_for(sink_config(topic="a"), VALUE) is not record_builder_for(sink_config(topic="b"), VALUE)
