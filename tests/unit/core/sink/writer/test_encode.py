from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from millrace.configuration import SinkConfig
from millrace.configuration.build import configure
from millrace.contracts import HEADERS, Decoder, Encoder, Format, Payloads, SerializationContext
from millrace.errors import MessageError, OptionsError, SchemaError
from millrace.records.record_columns import Records
from millrace.sink.writer.encode import encode_for

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
CARRIED = "topic AS target, timestamp AS at, __raw_key__ AS k"


def sink(**options: str) -> SinkConfig:
    given = {name.replace("_", "."): value for name, value in options.items()}
    return configure({"properties.bootstrap.servers": "h:1", **given}).sink


def pattern(text: str, **options: str) -> SinkConfig:
    return sink(**{"topic-pattern": text}, **options)


def encoded(config: SinkConfig, rows: pa.RecordBatch) -> list[Records]:
    return list(encode_for(config, rows.schema)(rows))


def values(records: Records) -> list[object]:
    return list(records.values.to_list())


def refused(config: SinkConfig, schema: pa.Schema) -> str:
    with pytest.raises((SchemaError, OptionsError)) as error:
        encode_for(config, schema)
    return str(error.value)


def test_rows_of_kafka_columns_are_written_as_they_are() -> None:
    (found,) = encoded(sink(topic="orders"), ROWS)
    assert (found.topic, values(found), found.is_values_only) == ("orders", [b"a", None], True)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_text_is_written_as_utf8(kind: pa.DataType) -> None:
    rows = pa.record_batch({"value": pa.array(["ü", None]).cast(kind)})
    (found,) = encoded(sink(topic="orders"), rows)
    assert values(found) == ["ü".encode(), None]


def test_rows_go_to_the_topics_that_they_name_each_with_all_of_its_columns() -> None:
    for config in (sink(), sink(topic="y;x"), pattern("[xy]")):
        x, y = encoded(config, KAFKA_ROWS)
        assert (x.topic, values(x), list(x.keys.to_list())) == ("x", [b"a", None], [b"1", b"3"])
        assert (x.headers, x.partitions.to_pylist()) == ([[("h", b"1")], []], [0, 2])
        assert x.timestamps.to_pylist() == [1_000, 3_000]
        assert (y.topic, values(y), list(y.keys.to_list())) == ("y", [b"b"], [None])
        assert (y.headers, y.partitions.to_pylist(), y.timestamps.to_pylist()) == ([[]], [None], [None])


def test_one_topic_wins_over_a_column_topic_as_in_sparks_own_connector() -> None:
    rows = pa.record_batch({"value": pa.array([b"a", b"b"]), "topic": pa.array(["x", None])})
    (found,) = encoded(sink(topic="orders"), rows)
    assert (found.topic, len(found)) == ("orders", 2)


def test_a_column_that_is_named_as_metadata_chooses_without_a_format_too() -> None:
    config = sink(topic="x", metadata_columns="topic")
    rows = pa.record_batch({"value": pa.array([b"a", b"b"]), "topic": pa.array(["x", "x"])})
    (found,) = encoded(config, rows)
    assert (found.topic, values(found)) == ("x", [b"a", b"b"])
    with pytest.raises(MessageError, match="a row cannot go to topic 'y'"):
        encoded(config, KAFKA_ROWS.select(["value", "topic"]))


@pytest.mark.parametrize("config", [sink(topic="x;z"), pattern("[xz]"), sink(topic="x", metadata_columns="topic")])
def test_nothing_of_a_batch_is_written_when_a_row_names_another_topic(config: SinkConfig) -> None:
    with pytest.raises(MessageError, match="a row cannot go to topic 'y', which its column 'topic' names"):
        next(encode_for(config, KAFKA_ROWS.schema)(KAFKA_ROWS))


def test_rows_with_a_format_are_encoded_by_it() -> None:
    batch = pa.record_batch({"id": pa.array([1], pa.int64())})
    (found,) = encoded(sink(topic="orders", format="json"), batch)
    assert (found.topic, values(found), found.is_values_only) == ("orders", [b'{"id":1}'], True)


def test_a_format_writes_what_is_not_metadata() -> None:
    x, y = encoded(sink(topic="x;y", format="json", metadata_columns=CARRIED), TYPED)
    assert (x.topic, values(x), list(x.keys.to_list())) == ("x", [b'{"id":1}', b'{"id":3}'], [b"1", b"3"])
    assert x.timestamps.to_pylist() == [10, 30]
    assert (y.topic, values(y), y.timestamps.to_pylist()) == ("y", [b'{"id":2}'], [None])


def test_columns_that_are_not_named_as_metadata_are_part_of_the_value_whatever_their_names() -> None:
    rows = pa.record_batch({"topic": ["a"], "partition": [7], "timestamp": ["b"], "headers": ["c"]})
    (found,) = encoded(sink(topic="orders", format="json"), rows)
    assert json.loads(values(found)[0]) == rows.to_pylist()[0]  # type: ignore[arg-type]
    assert found.is_values_only


@pytest.mark.parametrize("config", [sink(format="json", metadata_columns=CARRIED), sink(metadata_columns="topic")])
def test_without_the_option_topic_a_column_names_any_topic(config: SinkConfig) -> None:
    rows = TYPED if config.value_format else KAFKA_ROWS
    assert [found.topic for found in encoded(config, rows)] == ["x", "y"]


def test_a_column_chooses_with_a_format_though_there_is_one_topic() -> None:
    config = sink(topic="x", format="json", metadata_columns=CARRIED)
    (found,) = encoded(config, TYPED.take(pa.array([0, 2])))
    assert (found.topic, values(found)) == ("x", [b'{"id":1}', b'{"id":3}'])
    with pytest.raises(MessageError, match=r"a row cannot go to topic 'y'.*: option 'topic' permits 'x'"):
        encoded(config, TYPED)


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
@pytest.mark.parametrize("choice", [{"topic": "a;b"}, {"topic-pattern": "a.*"}])
def test_several_topics_need_a_column_that_chooses(options: dict[str, str], choice: dict[str, str]) -> None:
    assert "so that a column must choose for each row: add a STRING column" in refused(sink(**choice, **options), VALUE)


def test_a_column_topic_is_no_choice_with_a_format_unless_it_is_named_as_metadata() -> None:
    schema = pa.schema([("topic", pa.string()), ("id", pa.int64())])
    text = "add a STRING column and name it in 'metadata.columns', as topic AS target"
    assert text in refused(sink(format="json"), schema)
    assert text in refused(sink(topic="a;b", format="json"), schema)


@pytest.mark.parametrize("options", [{"subscribe": "a"}, {"subscribePattern": "a.*"}])
def test_what_is_subscribed_to_is_never_written_to(options: dict[str, str]) -> None:
    assert "option 'topic' is required, such as 'orders'" in refused(sink(**options), VALUE)


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
def test_a_raw_value_is_written_as_it_is(options: dict[str, str]) -> None:
    rows = pa.record_batch({"raw": pa.array([b"{", None, b""]), "k": pa.array([None, b"", b"k"])})
    config = sink(topic="orders", metadata_columns="__raw_value__ AS raw, __raw_key__ AS k", **options)
    (found,) = encoded(config, rows)
    assert (values(found), list(found.keys.to_list())) == ([b"{", None, b""], [None, b"", b"k"])


def test_a_raw_value_leaves_nothing_to_a_format() -> None:
    schema = pa.schema([("id", pa.int64()), ("raw", pa.binary()), ("name", pa.string())])
    config = sink(topic="orders", format="json", metadata_columns="__raw_value__ AS raw")
    assert refused(config, schema) == (
        "metadata column 'raw' (__raw_value__) is the whole value, beside which no other column can be written: drop "
        "id, name, or the entry of __raw_value__ in the option 'metadata.columns'"
    )


def test_a_format_needs_columns_of_its_own() -> None:
    config = sink(topic="orders", format="json", metadata_columns="__raw_key__ AS k")
    assert refused(config, pa.schema([("k", pa.binary())])) == (
        "no column is left for format 'json': all are named in the option 'metadata.columns'. Add columns for the "
        "value, or name one that is the whole value, as __raw_value__ AS value"
    )


def test_columns_that_cannot_be_written_are_refused() -> None:
    assert "column 'id' cannot be written" in refused(sink(topic="orders"), pa.schema([("id", pa.int64())]))


@pytest.mark.parametrize("options", [{}, {"topic": "x;y"}])
def test_no_rows_are_no_records(options: dict[str, str]) -> None:
    assert encoded(sink(**options), KAFKA_ROWS.slice(0, 0)) == []


class NamesItsTopic(Format):
    """Writes the topic and the side that its encoder is for."""

    depends_on_topic = True

    def decoder(self, schema: pa.Schema) -> Decoder:
        raise NotImplementedError

    def encoder(self, schema: pa.Schema) -> Encoder:
        return _Constant(b"?")

    def encoder_for(self, schema: pa.Schema, side: SerializationContext) -> Encoder:
        return _Constant(side.subject.encode())


class _Constant(Encoder):
    def __init__(self, value: bytes) -> None:
        self._value = value

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        return Payloads([self._value] * rows.num_rows)


def test_a_format_that_depends_on_the_topic_encodes_topic_by_topic() -> None:
    name = f"{__name__}:NamesItsTopic"
    x, y = encoded(sink(format=name, metadata_columns=CARRIED), TYPED)
    assert (x.topic, values(x), x.timestamps.to_pylist()) == ("x", [b"x-value"] * 2, [10, 30])
    assert (y.topic, values(y), list(y.keys.to_list())) == ("y", [b"y-value"], [None])
    (found,) = encoded(sink(format=name, topic="z"), ROWS)
    assert (found.topic, values(found)) == ("z", [b"z-value"] * 2)


def test_an_encoder_is_made_once_for_a_configuration_and_schema() -> None:
    assert encode_for(sink(topic="a"), VALUE) is encode_for(sink(topic="a"), pa.schema([("value", pa.binary())]))
    assert encode_for(sink(topic="a"), VALUE) is not encode_for(sink(topic="b"), VALUE)


EXCEPT_KEY = {"value.fields-include": "EXCEPT_KEY"}
KEYED = {"value.format": "json", "key.format": "json", "key.fields": "id"}
PEOPLE = pa.record_batch({"id": pa.array([1, None]), "name": pa.array(["a", None]), "target": ["x", "y"]})
PERSON = PEOPLE.select(["id", "name"])


def keys(records: Records) -> list[object]:
    assert records.keys is not None
    return list(records.keys.to_list())


def test_keys_are_encoded_by_their_format_and_by_default_part_of_the_value_too() -> None:
    (found,) = encoded(sink(topic="orders", **KEYED), PERSON)
    assert keys(found) == [b'{"id":1}', b'{"id":null}']
    assert values(found) == [b'{"id":1,"name":"a"}', b'{"id":null,"name":null}']


def test_the_columns_of_the_key_may_be_left_out_of_the_value() -> None:
    (found,) = encoded(sink(topic="orders", **EXCEPT_KEY, **KEYED), PERSON)
    assert (keys(found)[0], values(found)[0]) == (b'{"id":1}', b'{"name":"a"}')


def test_key_and_value_do_not_have_their_prefixes() -> None:
    rows = pa.record_batch({"v_id": [2], "k_id": [1]})
    prefixes = {"key.fields": "k_id", "key.fields-prefix": "k_", "value.fields-prefix": "v_"}
    (found,) = encoded(sink(topic="orders", **EXCEPT_KEY, **KEYED | prefixes), rows)
    assert (keys(found), values(found)) == ([b'{"id":1}'], [b'{"id":2}'])


def test_the_key_has_its_columns_in_the_order_of_the_option() -> None:
    options = {"key.format": "csv", "key.fields": "name;id", "key.csv.null-literal": "-"}
    (found,) = encoded(sink(topic="orders", **KEYED | options), PERSON)
    assert keys(found) == [b"a,1", b"-,-"]


def test_a_null_of_a_format_that_has_one_is_no_key() -> None:
    (found,) = encoded(sink(topic="orders", **KEYED | {"key.format": "raw", "key.fields": "name"}), PERSON)
    assert keys(found) == [b"a", None]


def test_keys_go_with_their_rows_to_the_topics_of_these() -> None:
    config = sink(topic="x;y", metadata_columns="topic AS target", **KEYED)
    x, y = encoded(config, PEOPLE)
    assert (x.topic, keys(x), values(x)) == ("x", [b'{"id":1}'], [b'{"id":1,"name":"a"}'])
    assert (y.topic, keys(y)) == ("y", [b'{"id":null}'])


def test_row_kinds_are_the_values_alone() -> None:
    rows = pa.record_batch({"row_kind": ["-D"], "id": [1], "name": ["a"]})
    (found,) = encoded(sink(topic="orders", **KEYED | {"value.format": "debezium-json"}), rows)
    assert keys(found) == [b'{"id":1}']
    assert json.loads(str(values(found)[0], "utf-8"))["op"] == "d"  # type: ignore[arg-type, call-overload]


def test_a_whole_value_may_have_a_key_of_columns() -> None:
    rows = pa.record_batch({"id": [1], "v": pa.array([b"bytes"])})
    whole = {"metadata.columns": "__raw_value__ AS v"}
    (found,) = encoded(sink(topic="orders", **EXCEPT_KEY, **KEYED | whole), rows)
    assert (keys(found), values(found)) == ([b'{"id":1}'], [b"bytes"])
    text = "is the whole value, beside which no other column can be written: drop id, or"
    assert text in refused(sink(topic="orders", **KEYED | whole), rows.schema)


def test_a_whole_key_and_a_format_of_keys_exclude_each_other() -> None:
    config = sink(topic="orders", metadata_columns="__raw_key__ AS name", **KEYED)
    assert refused(config, PERSON.schema) == (
        "metadata column 'name' (__raw_key__) is the whole key, which option 'key.format' makes of id: drop the "
        "option, or the entry of __raw_key__ in the option 'metadata.columns'"
    )


def test_a_value_needs_columns_beside_the_key() -> None:
    config = sink(topic="orders", **EXCEPT_KEY, **KEYED | {"key.fields": "id;name"})
    assert refused(config, PERSON.schema).startswith(
        "no column is left for format 'json': all are named in the options 'metadata.columns' and 'key.fields'. Add "
    )


def test_a_key_field_that_the_rows_lack_is_refused() -> None:
    assert "option 'key.fields' names 'di', which is no column" in refused(
        sink(topic="orders", **KEYED | {"key.fields": "di"}), PERSON.schema
    )


class Subjects(Format):
    """A format whose payloads say which topic they are for, and whether they are keys."""

    @property
    def depends_on_topic(self) -> bool:
        return True

    def decoder(self, schema: pa.Schema) -> Decoder:
        raise NotImplementedError

    def encoder(self, schema: pa.Schema) -> Encoder:
        return self.encoder_for(schema, SerializationContext("none"))

    def encoder_for(self, schema: pa.Schema, side: SerializationContext) -> Encoder:
        class SubjectEncoder(Encoder):
            def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
                return Payloads([f"{side.subject}:{','.join(schema.names)}".encode()] * rows.num_rows)

        return SubjectEncoder()


def test_formats_that_depend_on_the_topic_know_which_side_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formats_of_this_test", SimpleNamespace(Subjects=Subjects))
    subjects = "formats_of_this_test:Subjects"
    config = sink(
        **{"topic": "x;y", "metadata.columns": "topic AS target", "key.fields": "id"},
        **{"value.format": subjects, "key.format": subjects, **EXCEPT_KEY},
    )
    x, y = encoded(config, PEOPLE)
    assert (keys(x), values(x)) == ([b"x-key:id"], [b"x-value:name"])
    assert (keys(y), values(y)) == ([b"y-key:id"], [b"y-value:name"])
