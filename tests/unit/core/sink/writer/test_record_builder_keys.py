"""Keys that a format makes of columns."""

from __future__ import annotations

import json

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format, Payloads, SerializationContext
from support.records import build_records, keys_of, refused_rows, sink_config, values_of

EXCEPT_KEY = {"value.fields-include": "EXCEPT_KEY"}
KEYED = {"value.format": "json", "key.format": "json", "key.fields": "id"}
PEOPLE = pa.record_batch({"id": pa.array([1, None]), "name": pa.array(["a", None]), "target": ["x", "y"]})
PERSON = PEOPLE.select(["id", "name"])


def test_keys_are_encoded_by_their_format_and_by_default_part_of_the_value_too() -> None:
    (found,) = build_records(sink_config(topic="orders", **KEYED), PERSON)
    assert keys_of(found) == [b'{"id":1}', b'{"id":null}']
    assert values_of(found) == [b'{"id":1,"name":"a"}', b'{"id":null,"name":null}']


def test_the_columns_of_the_key_may_be_left_out_of_the_value() -> None:
    (found,) = build_records(sink_config(topic="orders", **EXCEPT_KEY, **KEYED), PERSON)
    assert (keys_of(found)[0], values_of(found)[0]) == (b'{"id":1}', b'{"name":"a"}')


def test_key_and_value_do_not_have_their_prefixes() -> None:
    rows = pa.record_batch({"v_id": [2], "k_id": [1]})
    prefixes = {"key.fields": "k_id", "key.fields-prefix": "k_", "value.fields-prefix": "v_"}
    (found,) = build_records(sink_config(topic="orders", **EXCEPT_KEY, **KEYED | prefixes), rows)
    assert (keys_of(found), values_of(found)) == ([b'{"id":1}'], [b'{"id":2}'])


def test_the_key_has_its_columns_in_the_order_of_the_option() -> None:
    options = {"key.format": "csv", "key.fields": "name;id", "key.csv.null-literal": "-"}
    (found,) = build_records(sink_config(topic="orders", **KEYED | options), PERSON)
    assert keys_of(found) == [b"a,1", b"-,-"]


def test_a_null_of_a_format_that_has_one_is_no_key() -> None:
    (found,) = build_records(sink_config(topic="orders", **KEYED | {"key.format": "raw", "key.fields": "name"}), PERSON)
    assert keys_of(found) == [b"a", None]


def test_keys_go_with_their_rows_to_the_topics_of_these() -> None:
    config = sink_config(topic="x;y", metadata_columns="topic AS target", **KEYED)
    x, y = build_records(config, PEOPLE)
    assert (x.topic, keys_of(x), values_of(x)) == ("x", [b'{"id":1}'], [b'{"id":1,"name":"a"}'])
    assert (y.topic, keys_of(y)) == ("y", [b'{"id":null}'])


def test_row_kinds_are_the_values_alone() -> None:
    rows = pa.record_batch({"row_kind": ["-D"], "id": [1], "name": ["a"]})
    (found,) = build_records(sink_config(topic="orders", **KEYED | {"value.format": "debezium-json"}), rows)
    assert keys_of(found) == [b'{"id":1}']
    assert json.loads(str(values_of(found)[0], "utf-8"))["op"] == "d"


def test_a_whole_value_may_have_a_key_of_columns() -> None:
    rows = pa.record_batch({"id": [1], "v": pa.array([b"bytes"])})
    whole = {"metadata.columns": "__raw_value__ AS v"}
    (found,) = build_records(sink_config(topic="orders", **EXCEPT_KEY, **KEYED | whole), rows)
    assert (keys_of(found), values_of(found)) == ([b'{"id":1}'], [b"bytes"])
    text = "is the whole value, so no other column can be written: drop id, or"
    assert text in refused_rows(sink_config(topic="orders", **KEYED | whole), rows.schema)


def test_a_whole_key_and_a_format_of_keys_exclude_each_other() -> None:
    config = sink_config(topic="orders", metadata_columns="__raw_key__ AS name", **KEYED)
    assert refused_rows(config, PERSON.schema) == (
        "metadata column 'name' (__raw_key__) is the whole key, which option 'key.format' makes of id: drop the "
        "option, or the entry of __raw_key__ in the option 'metadata.columns'"
    )


def test_a_value_needs_columns_beside_the_key() -> None:
    config = sink_config(topic="orders", **EXCEPT_KEY, **KEYED | {"key.fields": "id;name"})
    assert refused_rows(config, PERSON.schema).startswith(
        "no column is left for format 'json': all are named in the options 'metadata.columns' and 'key.fields'. Add "
    )


def test_a_key_field_that_the_rows_lack_is_refused() -> None:
    assert "option 'key.fields' names 'di', which is not a column" in refused_rows(
        sink_config(topic="orders", **KEYED | {"key.fields": "di"}), PERSON.schema
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

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        class SubjectEncoder(Encoder):
            def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
                return Payloads([f"{context.subject}:{','.join(schema.names)}".encode()] * rows.num_rows)

        return SubjectEncoder()


def test_formats_that_depend_on_the_topic_know_which_side_they_are() -> None:
    subjects = f"{__name__}:Subjects"
    config = sink_config(
        **{"topic": "x;y", "metadata.columns": "topic AS target", "key.fields": "id"},
        **{"value.format": subjects, "key.format": subjects, **EXCEPT_KEY},
    )
    x, y = build_records(config, PEOPLE)
    assert (keys_of(x), values_of(x)) == ([b"x-key:id"], [b"x-value:name"])
    assert (keys_of(y), values_of(y)) == ([b"y-key:id"], [b"y-value:name"])
