"""The protobuf-confluent format on a real registry: its contract, evolution, references, and Confluent's own client."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField
from confluent_kafka.serialization import SerializationContext as ClientContext

from millrace.contracts import Format, Payloads
from millrace.errors import OptionsError, RegistryError, SchemaError
from millrace.testing import FormatSuite
from millrace_formats.protobuf.confluent_format import ProtobufConfluentFormat
from millrace_formats.protobuf.registry.frame import message_frame
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.protobuf.registry.schemas import parse_schema
from millrace_formats.registry.schema_registry import SchemaText
from support.registry_messages import read, write

VERSIONS = [
    'syntax = "proto3"; package shop; message Order { int32 id = 1; string customer = 2; bytes old = 3; }',
    'syntax = "proto3"; package shop; message Order { int64 id = 1; optional string customer = 2; }',
    'syntax = "proto3"; package shop; message Order { float total = 4; string client = 2; int64 id = 1; }',
]
WRITTEN = [{"id": 1, "customer": "Ann", "old": b"x"}, {"id": 2**40}, {"total": 2.5, "client": "Cid", "id": 3}]


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "protobuf_" + request.node.name.translate(str.maketrans("[]", "__"))


def format_of(registry: Any, **options: Any) -> ProtobufConfluentFormat:
    return ProtobufConfluentFormat(ProtobufRegistryOptions(url=registry.url, **options))


def client(registry: Any) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry.url})


def message_of(text: str, schema_id: int, values: dict[str, Any]) -> bytes:
    message = parse_schema(SchemaText(text)).message_class((0,))(**values)
    return message_frame(schema_id, [0]) + bytes(message.SerializeToString())


def evolved(registry: Any, topic: str) -> list[bytes]:
    ids = [registry.register_text(f"{topic}-value", text, "PROTOBUF") for text in VERSIONS]
    return [message_of(*each) for each in zip(VERSIONS, ids, WRITTEN, strict=True)]


class TestProtobufConfluent(FormatSuite):
    bad = (b"", b"\0", b"{}", b"\1\0\0\0\1\0", b"\0\x7f\0\0\0\0x", b"\0\xff\xff\xff\xff\0", b"\0\0\0\0\1\xff\xff")

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url

    def make_format(self) -> Format:
        return ProtobufConfluentFormat(ProtobufRegistryOptions(url=self.url, subject="conformance-protobuf"))

    def schema(self) -> pa.Schema:
        scalars = [
            ("yes", pa.bool_()), ("int", pa.int32()), ("long", pa.int64()), ("unsigned", pa.decimal128(20, 0)),
            ("float", pa.float32()), ("double", pa.float64()), ("text", pa.string()), ("bytes", pa.binary()),
            ("at", pa.timestamp("us", "UTC")),
        ]  # fmt: skip
        inner = pa.struct(scalars)
        nested = [("list", pa.list_(inner)), ("map", pa.map_(pa.int64(), inner)), ("struct", inner)]
        return pa.schema([pa.field("id", pa.int64(), False), *scalars, *nested], metadata={"x": "y"})

    def rows(self) -> pa.RecordBatch:
        some = {
            "yes": False, "int": -(2**31), "long": 2**63 - 1, "unsigned": 2**64 - 1, "float": 0.5, "double": -0.0,
            "text": "ü😀", "bytes": b"\0\xff", "at": dt.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=dt.UTC),
        }  # fmt: skip
        rows = [
            {"id": 1, **some, "list": [some, {}], "map": [(1, some), (2, {})], "struct": some},
            {"id": 0},
            {"id": 2, "text": "", "struct": {}},
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


def test_each_message_is_read_by_the_schema_that_it_was_written_with(registry: Any, topic: str) -> None:
    messages = evolved(registry, topic)
    names = [("id", pa.int64()), ("customer", pa.string()), ("total", pa.float64()), ("client", pa.string())]
    expected = [
        {"id": 1, "customer": "Ann", "total": None, "client": None},
        {"id": 2**40, "customer": None, "total": None, "client": None},
        {"id": 3, "customer": None, "total": 2.5, "client": "Cid"},
    ]
    for order in ([0, 1, 2], [2, 2, 0, 1, 2, 0], [1] * 40 + [0] * 40 + [2, 1]):
        rows = read(format_of(registry), pa.schema(names), [messages[version] for version in order])
        assert rows == [expected[version] for version in order]


def test_a_given_schema_reads_every_version_by_the_numbers_of_fields(registry: Any, topic: str) -> None:
    messages = evolved(registry, topic)
    columns = pa.schema([("client", pa.string()), ("id", pa.int64())])
    rows = read(format_of(registry, schema=VERSIONS[2]), columns, messages)
    assert rows == [{"client": "Ann", "id": 1}, {"client": "", "id": 2**40}, {"client": "Cid", "id": 3}]


def test_mixed_schemas_with_bad_messages_and_tombstones(registry: Any, topic: str) -> None:
    messages = evolved(registry, topic)
    items: list[bytes | None] = []
    for number in range(300):
        good = messages[number % 3]
        items.append([good, None, good[:-1], good, b"", good, good[:5], b"\0\x7f\0\0\1" + good[5:]][number % 8])
    decoded = format_of(registry).decoder(pa.schema([("id", pa.int64())])).decode(Payloads(items))
    expected = {n: [1, 2**40, 3][n % 3] for n in range(300) if n % 8 in (0, 3, 5)}
    assert dict(zip(decoded.message_index.to_pylist(), decoded.rows.column(0).to_pylist(), strict=True)) == expected
    assert [error.index for error in decoded.errors] == [n for n in range(300) if n % 8 in (2, 4, 6, 7)]


def test_errors_of_messages_name_the_schema_and_the_field(registry: Any, topic: str) -> None:
    good = evolved(registry, topic)[0]
    schema_id = int.from_bytes(good[1:5], "big")
    columns = pa.schema([("id", pa.string()), pa.field("customer", pa.string())])
    items = [good, b"\0\x7f\xff\xff\xff\0x", good[:5] + b"\2\6"]
    reasons = [error.reason for error in format_of(registry).decoder(columns).decode(Payloads(items)).errors]
    assert reasons[0].startswith(
        f"schema {schema_id}: format protobuf does not support this schema: column id is STRING"
    )
    assert reasons[1:] == [
        f"schema 2147483647 is not in the registry at {registry.url}",
        f"schema {schema_id}: it has no message with the indexes [3]",
    ]
    required = pa.schema([pa.field("total", pa.float64(), False)])
    (error,) = format_of(registry).decoder(required).decode(Payloads([good])).errors
    assert error.reason == f"schema {schema_id}: message shop.Order has no field 'total', which is NOT NULL"


def test_schemas_may_refer_to_others(registry: Any, topic: str) -> None:
    money = """syntax = "proto3"; package shop; enum Currency { EUR = 0; USD = 1; }
    message Money { int64 cents = 1; Currency currency = 2; }"""
    order = 'syntax = "proto3"; package shop; import "money.proto"; message Order { Money price = 1; }'
    registry.register_text(f"{topic}-money", money, "PROTOBUF")
    references = [("money.proto", f"{topic}-money")]
    schema_id = registry.register_text(f"{topic}-value", order, "PROTOBUF", references)
    price = pa.struct([("cents", pa.int64()), ("currency", pa.string())])
    columns = pa.schema([("price", price)])
    expected = [{"price": {"cents": 5, "currency": "USD"}}]
    assert read(format_of(registry), columns, [message_frame(schema_id, [0]) + b"\x0a\4\x08\5\x10\1"]) == expected
    rows = pa.RecordBatch.from_pylist(expected, schema=columns)
    assert write(format_of(registry), topic, rows) == [message_frame(schema_id, [0]) + b"\x0a\4\x08\5\x10\1"]
    more = pa.RecordBatch.from_pylist(
        [{**expected[0], "note": "n"}], schema=columns.append(pa.field("note", pa.string()))
    )
    messages = write(format_of(registry), topic, more)
    assert read(format_of(registry), more.schema, messages) == more.to_pylist()
    latest = registry.ask("GET", f"subjects/{topic}-value/versions/latest")
    assert [reference["name"] for reference in latest["references"]] == ["money.proto"]


def test_a_schema_of_another_type_is_an_error(registry: Any, topic: str) -> None:
    schema_id = registry.register(f"{topic}-value", {"type": "record", "name": "a", "fields": []})
    items = [message_frame(schema_id, [0]) + b"x"]
    (error,) = format_of(registry).decoder(pa.schema([("a", pa.int32())])).decode(Payloads(items)).errors
    assert error.reason == f"schema {schema_id} is of type AVRO, expected PROTOBUF"


ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "name": "Ann"}], schema=pa.schema([pa.field("id", pa.int64(), False), ("name", pa.string())])
)


def test_columns_are_added_to_the_latest_schema_in_any_order(registry: Any, topic: str) -> None:
    subject = f"{topic}-value"
    first = write(format_of(registry), topic, ROWS)
    registry.keep_compatible(subject)
    wider = pa.schema([("city", pa.string()), *ROWS.schema])
    rows = pa.RecordBatch.from_pylist([{"city": "Ulm", "id": 2, "name": "Bob"}], schema=wider)
    second = write(format_of(registry), topic, rows)
    assert registry.versions(subject) == 2
    # a write of fewer columns, a repeated one, and one that must not register use the schema that there is
    for options in ({}, {"auto_register": False}):
        third = write(format_of(registry, **options), topic, ROWS)
        assert third[0][1:5] == second[0][1:5]
    assert registry.versions(subject) == 2
    assert read(format_of(registry), wider, [*first, *second, *third]) == [
        {"city": None, "id": 1, "name": "Ann"},
        {"city": "Ulm", "id": 2, "name": "Bob"},
        {"city": None, "id": 1, "name": "Ann"},
    ]


def test_without_registration_the_subject_must_have_the_fields(registry: Any, topic: str) -> None:
    with pytest.raises(RegistryError, match=r"it has no schema\. Register it first, or set option 'auto.register"):
        write(format_of(registry, auto_register=False), topic, ROWS)
    registry.register_text(f"{topic}-value", VERSIONS[0], "PROTOBUF")
    with pytest.raises(RegistryError, match=r"its latest schema has no fields for some of the columns"):
        write(format_of(registry, auto_register=False), topic, ROWS)


def test_columns_of_other_types_than_the_latest_schema_are_refused(registry: Any, topic: str) -> None:
    registry.register_text(f"{topic}-value", VERSIONS[0], "PROTOBUF")
    with pytest.raises(SchemaError, match=r"column id is BIGINT, but field shop.Order.id is int32: use INT"):
        write(format_of(registry), topic, ROWS)


def test_a_schema_that_is_not_compatible_is_refused_in_the_registrys_words(registry: Any, topic: str) -> None:
    registry.register_text(f"{topic}-value", VERSIONS[1], "PROTOBUF")
    registry.keep_compatible(f"{topic}-value")
    other = 'syntax = "proto3"; package shop; message Order { string id = 1; }'
    rows = pa.RecordBatch.from_pylist([{"id": "1"}], schema=pa.schema([("id", pa.string())]))
    with pytest.raises(RegistryError) as caught:
        write(format_of(registry, schema=other), topic, rows)
    assert f"does not accept the schema of the rows for subject '{topic}-value'" in str(caught.value)
    assert "The new version of the protobuf artifact is not backward compatible" in str(caught.value)


def test_a_given_schema_and_message_are_written(registry: Any, topic: str) -> None:
    text = 'syntax = "proto3"; package p; message A { message B { int64 id = 7; optional string name = 8; } }'
    format_ = format_of(registry, schema=text, message_name="p.A.B")
    (message,) = write(format_, topic, ROWS)
    assert message is not None
    assert message[5:] == b"\4\0\0\x38\1\x42\3Ann"
    assert registry.ask("GET", f"subjects/{topic}-value/versions/1")["schema"] == text
    assert read(format_of(registry), ROWS.schema, [message]) == ROWS.to_pylist()
    with pytest.raises(OptionsError, match=r"option 'schema' is invalid: it has no message 'p.C', but p.A, p.A.B"):
        format_of(registry, schema=text, message_name="p.C").decoder(ROWS.schema)
    with pytest.raises(SchemaError, match=r"column other has no field in message p.A.B"):
        format_.encoder(pa.schema([("other", pa.int64())]))


@pytest.mark.parametrize("path", [(0,), (1,), (0, 0)])
def test_confluents_client_writes_and_this_reads(registry: Any, topic: str, path: tuple[int, ...]) -> None:
    text = """syntax = "proto3"; package shop;
    message Order { int64 id = 1; optional string name = 2; message Line { int64 id = 1; optional string name = 2; } }
    message Other { int64 id = 5; optional string name = 4; }"""
    message_class = parse_schema(SchemaText(text)).message_class(path)
    serializer = ProtobufSerializer(message_class, client(registry), {"use.deprecated.format": False})
    message = serializer(message_class(id=1, name="Ann"), ClientContext(topic, MessageField.VALUE))
    assert read(format_of(registry), ROWS.schema, [message]) == ROWS.to_pylist()


def test_this_writes_and_confluents_client_reads(registry: Any, topic: str) -> None:
    (message,) = write(format_of(registry), topic, ROWS)
    text = registry.ask("GET", f"subjects/{topic}-value/versions/1")["schema"]
    message_class = parse_schema(SchemaText(text)).message_class((0,))
    context = ClientContext(topic, MessageField.VALUE)
    found = ProtobufDeserializer(message_class, {"use.deprecated.format": False})(message, context)
    assert (found.id, found.name) == (1, "Ann")


def test_without_topic_and_subject_a_write_is_refused(registry: Any) -> None:
    with pytest.raises(OptionsError, match=r"option 'subject' is required where rows are not written to a topic"):
        format_of(registry).encoder(ROWS.schema).encode(ROWS)
