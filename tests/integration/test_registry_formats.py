"""The formats whose schemas a registry has, on a real registry: their contract, evolution, registration and errors."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Format, Payloads, SerializationContext
from millrace.errors import MessageError, OptionsError, RegistryError, SchemaError
from millrace.testing import FormatSuite
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.registry.frame import frame_of
from support.names import unique_name
from support.registry_messages import read, write
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import encoded, framed
from unit.formats.conformance_rows import SCALAR_ROWS, NestedRows


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name}-value"


@pytest.fixture
def options(registry: Any) -> AvroRegistryOptions:
    return AvroRegistryOptions(url=registry.url)


class TestAvroConfluent(NestedRows, FormatSuite):
    bad = (b"", b"\0", b"{}", b"\1\0\0\0\1x", b"\0\x7f\0\0\0x", b"\0\xff\xff\xff\xffx")
    scalar_rows = (SCALAR_ROWS[0] | {"time": dt.time(23, 59, 59, 999000)}, SCALAR_ROWS[1])

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url

    def make_format(self) -> Format:
        return AvroConfluentFormat(
            AvroRegistryOptions(url=self.url, subject="conformance-value", legacy_timestamps=False)
        )


def record(*fields: Any, name: str = "Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": "shop", "fields": list(fields)}


VERSIONS = [
    record({"name": "id", "type": "int"}, {"name": "customer", "type": "string"}, {"name": "old", "type": "bytes"}),
    record({"name": "id", "type": "long"}, {"name": "customer", "type": ["null", "string"], "default": None}),
    record(
        {"name": "total", "type": "float", "default": 0},
        {"name": "client", "type": "string", "aliases": ["customer"], "default": "nobody"},
        {"name": "id", "type": "long"},
    ),
]
WRITTEN = [
    {"id": 1, "customer": "Ann", "old": b"x"},
    {"id": 2**40, "customer": None},
    {"total": 2.5, "client": "Cid", "id": 3},
]


def evolved(registry: Any, subject: str) -> list[bytes]:
    return [
        framed(registry.register(subject, schema), schema, value)
        for schema, value in zip(VERSIONS, WRITTEN, strict=True)
    ]


def test_each_message_is_read_by_the_schema_that_it_was_written_with(
    registry: Any, options: AvroRegistryOptions, subject: str
) -> None:
    columns = pa.schema(
        [("id", pa.int64()), ("customer", pa.string()), ("total", pa.float64()), ("client", pa.string())]
    )
    messages = evolved(registry, subject)
    decoder = AvroConfluentFormat(options).decoder(columns)
    for order in ([0, 1, 2], [2, 2, 0, 1, 2, 0], [1] * 40 + [0] * 40 + [2, 1]):
        decoded = decoder.decode(Payloads([messages[version] for version in order]))
        expected = [
            {"id": 1, "customer": "Ann", "total": None, "client": None},
            {"id": 2**40, "customer": None, "total": None, "client": None},
            {"id": 3, "customer": None, "total": 2.5, "client": "Cid"},
        ]
        assert not decoded.errors
        assert decoded.rows.to_pylist() == [expected[version] for version in order]


def test_a_readers_schema_has_aliases_and_defaults(registry: Any, subject: str) -> None:
    messages = evolved(registry, subject)
    columns = pa.schema([("client", pa.string()), ("total", pa.float32())])
    options = AvroRegistryOptions(url=registry.url, schema=json.dumps(VERSIONS[2]))
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads(messages))
    assert not decoded.errors
    assert decoded.rows.to_pylist() == [
        {"client": "Ann", "total": 0.0},
        {"client": None, "total": 0.0},
        {"client": "Cid", "total": 2.5},
    ]


def test_mixed_schemas_with_bad_messages_and_tombstones(
    registry: Any, options: AvroRegistryOptions, subject: str
) -> None:
    messages = evolved(registry, subject)
    columns = pa.schema([("id", pa.int64())])
    items: list[bytes | None] = []
    for number in range(300):
        good = messages[number % 3]
        items.append([good, None, good[:-1], good, b"", good, good[:5], b"\0\x7f\0\0\1" + good[5:]][number % 8])
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads(items))
    expected = {n: [1, 2**40, 3][n % 3] for n in range(300) if n % 8 in (0, 3, 5)}
    assert dict(zip(decoded.message_index.to_pylist(), decoded.rows.column(0).to_pylist(), strict=True)) == expected
    assert [error.index for error in decoded.errors] == [n for n in range(300) if n % 8 in (2, 4, 6, 7)]


def test_errors_of_messages_name_the_schema_and_the_field(
    registry: Any, options: AvroRegistryOptions, subject: str
) -> None:
    schema_id = registry.register(subject, VERSIONS[0])
    good = framed(schema_id, VERSIONS[0], WRITTEN[0])
    columns = pa.schema([("id", pa.int64()), ("customer", pa.int32())])
    items = [good, b"\0\x7f\xff\xff\xffx", b"{}", good[:6]]
    reasons = [error.reason for error in AvroConfluentFormat(options).decoder(columns).decode(Payloads(items)).errors]
    assert reasons == [
        "field customer: the writer's string cannot be read as INT",
        f"schema 2147483647 is not in the registry at {registry.url}",
        "expected the frame of a schema registry, a zero byte and four bytes of a schema's id, found 7b 7d",
        "field customer: the writer's string cannot be read as INT",
    ]


def test_a_missing_not_null_column_is_an_error(registry: Any, options: AvroRegistryOptions, subject: str) -> None:
    schema_id = registry.register(subject, VERSIONS[1])
    columns = pa.schema([pa.field("missing", pa.string(), False)])
    item = framed(schema_id, VERSIONS[1], WRITTEN[1])
    (error,) = AvroConfluentFormat(options).decoder(columns).decode(Payloads([item])).errors
    assert error.reason == (
        f"schema {schema_id}: the writer's record shop.Order has no field 'missing', which is NOT NULL"
    )


def test_schemas_may_refer_to_others(registry: Any, options: AvroRegistryOptions, subject: str) -> None:
    currency = {"type": "enum", "name": "Currency", "namespace": "shop", "symbols": ["EUR", "USD"]}
    money = record({"name": "cents", "type": "long"}, {"name": "currency", "type": "shop.Currency"}, name="Money")
    order = record({"name": "price", "type": "shop.Money"}, {"name": "again", "type": "shop.Money"})
    registry.register(f"{subject}-currency", currency)
    of_currency = [{"name": "shop.Currency", "subject": f"{subject}-currency", "version": 1}]
    registry.register(f"{subject}-money", money, references=of_currency)
    of_money = [{"name": "shop.Money", "subject": f"{subject}-money", "version": 1}]
    schema_id = registry.register(subject, order, references=of_money)
    struct = pa.struct([("cents", pa.int64()), ("currency", pa.string())])
    columns = pa.schema([("price", struct), ("again", struct)])
    message = b"\0" + schema_id.to_bytes(4, "big") + b"\x0a\x02\x0e\x00"
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads([message]))
    assert decoded.rows.to_pylist() == [
        {"price": {"cents": 5, "currency": "USD"}, "again": {"cents": 7, "currency": "EUR"}}
    ]


def test_messages_are_records_of_a_union_or_of_a_schema_that_is_a_reference(
    registry: Any, options: AvroRegistryOptions, subject: str
) -> None:
    paid = record({"name": "id", "type": "long"}, {"name": "cents", "type": "int"}, name="Paid")
    sent = record({"name": "id", "type": "long"}, {"name": "by", "type": "string"}, name="Sent")
    references = []
    for schema in (paid, sent):
        name = f"shop.{schema['name']}"
        registry.register(f"{subject}-{name}", schema)
        references.append({"name": name, "subject": f"{subject}-{name}", "version": 1})
    union = registry.register(subject, ["null", "shop.Paid", "shop.Sent"], references=references)
    reference = registry.register(f"{subject}-reference", "shop.Sent", references=references[1:])
    messages = [frame_of(union) + body for body in (b"\x02\x0e\x06", b"\x04\x10\x04me", b"\x00")]
    messages.append(frame_of(reference) + b"\x12\x04me")
    format_ = AvroConfluentFormat(replace(options, subject=subject))

    columns = format_.default_schema()
    assert columns == pa.schema([("id", pa.int64()), ("cents", pa.int32()), ("by", pa.string())])
    decoded = format_.decoder(columns).decode(Payloads(messages))
    assert decoded.rows.to_pylist() == [
        {"id": 7, "cents": 3, "by": None},
        {"id": 8, "cents": None, "by": "me"},
        {"id": 9, "cents": None, "by": "me"},
    ]
    of_reference = AvroConfluentFormat(replace(options, subject=f"{subject}-reference"))
    assert of_reference.default_schema() == pa.schema([("id", pa.int64()), ("by", pa.string())])


@pytest.mark.parametrize(
    ("strategy", "subjects"),
    [("record", ["shop.Order"]), ("topic-record", ["{}-shop.Order"]), ("associated", ["{}-value"])],
)
def test_subjects_are_named_as_the_strategy_says(
    registry: Any, options: AvroRegistryOptions, strategy: Any, subjects: list[str]
) -> None:
    topic = unique_name("named")
    schema = json.dumps(record({"name": "id", "type": "long"}, name="Order"))
    format_ = AvroConfluentFormat(replace(options, schema=schema, subject=None, subject_name_strategy=strategy))
    before = set(registry.ask("GET", "subjects"))
    rows = pa.RecordBatch.from_pylist([{"id": 7}], pa.schema([("id", pa.int64())]))
    assert read(format_, rows.schema, write(format_, topic, rows)) == [{"id": 7}]
    # Other tests may have registered the record
    assert set(registry.ask("GET", "subjects")) - before <= {subject.format(topic) for subject in subjects}
    assert registry.versions(subjects[0].format(topic)) >= 1


def test_a_schema_that_is_not_avro_is_an_error(registry: Any, options: AvroRegistryOptions, subject: str) -> None:
    schema = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})
    answer = registry.ask("POST", f"subjects/{subject}/versions", {"schema": schema, "schemaType": "JSON"})
    item = b"\0" + int(answer["id"]).to_bytes(4, "big") + b"x"
    (error,) = AvroConfluentFormat(options).decoder(pa.schema([("a", pa.int32())])).decode(Payloads([item])).errors
    assert error.reason == f"schema {answer['id']} is of type JSON, expected AVRO"


ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "at": dt.datetime(2024, 5, 1, 12, 30, 15, 250_000), "amount": Decimal("1.50")}],
    schema=pa.schema([pa.field("id", pa.int64(), False), ("at", pa.timestamp("us")), ("amount", pa.decimal128(10, 2))]),
)


def test_the_registered_schema_is_that_of_flink(registry: Any, options: AvroRegistryOptions, subject: str) -> None:
    side = SerializationContext(subject.removesuffix("-value"))
    (message,) = AvroConfluentFormat(options).encoder_for(ROWS.schema, side).encode(ROWS).to_list()
    (schema,) = registry.schemas(subject)
    assert schema == {
        "type": "record",
        "name": "record",
        "namespace": "org.apache.flink.avro.generated",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
            {
                "name": "amount",
                "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}],
                "default": None,
            },
        ],
    }
    assert message[:1] == b"\0"
    assert message[5:] == encoded(schema, {"id": 1, "at": 1_714_566_615_250, "amount": b"\x00\x96"}, logical=False)


def test_keys_and_values_of_a_topic_have_subjects_of_their_own(registry: Any, options: AvroRegistryOptions) -> None:
    for is_key, name in ((True, "two-sides-key"), (False, "two-sides-value")):
        encoder = AvroConfluentFormat(options).encoder_for(ROWS.schema, SerializationContext("two-sides", is_key))
        encoder.encode(ROWS)
        assert len(registry.schemas(name)) == 1


def test_a_schema_that_is_not_compatible_is_refused_in_the_registrys_words(
    registry: Any, options: AvroRegistryOptions, subject: str
) -> None:
    registry.register(subject, record({"name": "id", "type": "string"}, name="record"))
    registry.keep_compatible(subject)
    encoder = AvroConfluentFormat(options).encoder_for(
        ROWS.schema, SerializationContext(subject.removesuffix("-value"))
    )
    with pytest.raises(RegistryError) as caught:
        encoder.encode(ROWS)
    assert f"does not accept the schema of the rows for subject '{subject}'" in str(caught.value)
    assert "reader type: LONG not compatible with writer type: STRING at /fields/0/type" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_without_registration_the_subject_must_have_the_schema(registry: Any, subject: str) -> None:
    options = AvroRegistryOptions(url=registry.url, subject=subject, auto_register=False)
    with pytest.raises(RegistryError, match=r"Register it first, or set option 'auto.register.schemas' to true"):
        AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS)
    AvroConfluentFormat(AvroRegistryOptions(url=registry.url, subject=subject)).encoder(ROWS.schema).encode(ROWS)
    (message,) = AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS).to_list()
    assert AvroConfluentFormat(options).decoder(ROWS.schema).decode(Payloads([message])).rows.equals(ROWS)


def test_a_schema_that_is_spelt_in_another_way_is_found_without_registration(registry: Any, subject: str) -> None:
    field = {"name": "id", "type": "long"}
    schema_id = registry.register(subject, {"type": "record", "name": "Order", "namespace": "shop", "fields": [field]})
    spelt = {"name": "shop.Order", "fields": [{"type": {"type": "long"}, "name": "id"}], "type": "record"}
    options = AvroRegistryOptions(url=registry.url, subject=subject, auto_register=False, schema=json.dumps(spelt))
    rows = pa.record_batch({"id": [1]})
    (message,) = AvroConfluentFormat(options).encoder(rows.schema).encode(rows).to_list()
    assert message == frame_of(schema_id) + b"\2"


def test_rows_are_written_by_a_given_schema(registry: Any, subject: str) -> None:
    schema = record(
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "amount", "type": {"type": "fixed", "name": "F", "size": 5, "logicalType": "decimal", "precision": 10,
                                    "scale": 4}},
        {"name": "note", "type": ["null", "string"], "default": None},
    )  # fmt: skip
    options = AvroRegistryOptions(url=registry.url, subject=subject, schema=json.dumps(schema))
    columns = pa.schema([("amount", pa.decimal128(10, 2)), ("kind", pa.string())])
    rows = pa.RecordBatch.from_pylist([{"amount": Decimal("-1.25"), "kind": "B"}], schema=columns)
    (message,) = AvroConfluentFormat(options).encoder(columns).encode(rows).to_list()
    assert registry.schemas(subject) == [schema]
    assert value_of(schema, message[5:]) == {
        "kind": "B", "amount": Decimal("-1.2500"), "note": None,
    }  # fmt: skip
    assert AvroConfluentFormat(options).decoder(columns).decode(Payloads([message])).rows.equals(rows)
    for wrong, reason in (
        (
            {"amount": Decimal("99999999.00"), "kind": "A"},
            "column amount, row 0: 99999999.00 does not fit decimal(10,4)",
        ),
        ({"amount": Decimal("1.00"), "kind": "C"}, "column kind, row 0: 'C' is not a symbol of enum shop.Kind"),
        ({"amount": None, "kind": "A"}, "column amount, row 0: NULL in a NOT NULL column"),
    ):
        with pytest.raises(MessageError) as caught:
            AvroConfluentFormat(options).encoder(columns).encode(pa.RecordBatch.from_pylist([wrong], schema=columns))
        assert str(caught.value) == reason


def test_a_given_schema_that_does_not_fit_the_columns_is_refused(registry: Any) -> None:
    options = AvroRegistryOptions(url=registry.url, schema=json.dumps(VERSIONS[2]))
    columns = pa.schema([("id", pa.string()), ("other", pa.int32())])
    with pytest.raises(SchemaError) as caught:
        AvroConfluentFormat(options).encoder(columns)
    for part in (
        "column id of type STRING is long in the schema",
        "column other is not in the schema",
        "column total is missing, but its field in the schema must not be null",
    ):
        assert part in str(caught.value)
    with pytest.raises(SchemaError, match=r"column id: the writer's long cannot be read as STRING"):
        AvroConfluentFormat(options).decoder(pa.schema([("id", pa.string())]))


def test_without_topic_and_subject_a_write_is_refused(options: AvroRegistryOptions) -> None:
    with pytest.raises(OptionsError, match=r"option 'subject' is required where rows are not written to a topic"):
        AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS)


def test_a_guid_that_the_registry_does_not_know_is_malformed(registry: Any, options: AvroRegistryOptions) -> None:
    schema = record({"name": "id", "type": "int"})
    schema_id = registry.register("guids-value", schema)
    messages = [
        framed(schema_id, schema, {"id": 1}),
        b"\1" + bytes(range(16)) + b"\2",
        framed(schema_id, schema, {"id": 2}),
    ]
    decoded = AvroConfluentFormat(options).decoder(pa.schema([("id", pa.int64())])).decode(Payloads(messages))
    assert decoded.rows.to_pylist() == [{"id": 1}, {"id": 2}]
    (error,) = decoded.errors
    assert error.index == 1
    assert error.reason == (
        f"schema 00010203-0405-0607-0809-0a0b0c0d0e0f is not in the registry at {registry.url}, which may know no "
        "GUIDs of schemas, such as this one: then set value.schema.id.serializer and key.schema.id.serializer of the "
        "producer to Confluent's PrefixSchemaIdSerializer"
    )
