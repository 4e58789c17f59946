"""The json-confluent format on a real registry: its contract, evolution, references, and Confluent's own client."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField
from confluent_kafka.serialization import SerializationContext as ClientContext

from millrace.contracts import Format, Payloads, SerializationContext
from millrace.errors import OptionsError, RegistryError
from millrace.testing import FormatSuite
from millrace_formats.json.confluent_format import JsonConfluentFormat
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.registry.frame import frame_of
from support.registry_messages import read, write
from unit.formats.conformance_rows import NestedRows


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "json_" + request.node.name.translate(str.maketrans("[]", "__"))


def format_of(registry: Any, **options: Any) -> JsonConfluentFormat:
    return JsonConfluentFormat(JsonRegistryOptions(url=registry.url, **options))


def schema_of(**properties: Any) -> str:
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "type": "object"}
    return json.dumps({**head, "properties": properties})


VERSIONS = [
    schema_of(id={"type": "integer"}, customer={"type": "string"}, old={"type": "boolean"}),
    schema_of(id={"type": "integer"}, customer={"type": ["null", "string"]}),
    schema_of(id={"type": "integer"}, client={"type": "string"}, total={"type": "number"}),
]
WRITTEN = [{"id": 1, "customer": "Ann", "old": True}, {"id": 2**40, "customer": None}, {"total": 2.5, "id": 3}]


def evolved(registry: Any, topic: str) -> list[bytes]:
    ids = [registry.register_text(f"{topic}-value", text, "JSON") for text in VERSIONS]
    return [frame_of(schema_id) + json.dumps(each).encode() for schema_id, each in zip(ids, WRITTEN, strict=True)]


class TestJsonConfluent(NestedRows, FormatSuite):
    bad = (b"", b"\0", b"{}", b"\1\0\0\0\1{}", b"\0\x7f\0\0\0{}", b"\0\xff\xff\xff\xff{}")

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url

    def make_format(self) -> Format:
        return JsonConfluentFormat(JsonRegistryOptions(url=self.url, subject="conformance-json"))


def test_messages_of_three_versions_are_read_together(registry: Any, topic: str) -> None:
    messages = evolved(registry, topic)
    columns = pa.schema([("id", pa.int64()), ("customer", pa.string()), ("total", pa.float64())])
    expected = [
        {"id": 1, "customer": "Ann", "total": None},
        {"id": 2**40, "customer": None, "total": None},
        {"id": 3, "customer": None, "total": 2.5},
    ]
    for order in ([0, 1, 2], [2, 2, 0, 1, 2, 0], [1] * 40 + [0] * 40 + [2, 1]):
        rows = read(format_of(registry), columns, [messages[version] for version in order])
        assert rows == [expected[version] for version in order]


def test_messages_are_of_one_of_several_schemas_that_are_references(registry: Any, topic: str) -> None:
    for name, part in (("paid", {"cents": {"type": "integer"}}), ("sent", {"by": {"type": "string"}})):
        registry.register_text(f"{topic}-{name}", schema_of(id={"type": "integer"}, **part), "JSON")
    head = {"$schema": "http://json-schema.org/draft-07/schema#"}
    union = json.dumps({**head, "oneOf": [{"$ref": "paid.json"}, {"$ref": "sent.json"}]})
    references = [(f"{name}.json", f"{topic}-{name}") for name in ("paid", "sent")]
    schema_id = registry.register_text(f"{topic}-value", union, "JSON", references)
    format_ = format_of(registry)

    columns = format_.default_schema_for(SerializationContext(topic))
    assert columns == pa.schema([("id", pa.int64()), ("cents", pa.int64()), ("by", pa.string())])
    messages = [frame_of(schema_id) + text for text in (b'{"id": 7, "cents": 3}', b'{"id": 8, "by": "me"}')]
    assert read(format_, columns, messages) == [
        {"id": 7, "cents": 3, "by": None},
        {"id": 8, "cents": None, "by": "me"},
    ]


def test_bad_messages_and_tombstones_shift_no_row(registry: Any, topic: str) -> None:
    messages = evolved(registry, topic)
    items: list[bytes | None] = []
    for number in range(300):
        good = messages[number % 3]
        items.append([good, None, good[:-1], good, b"", good, good[1:], b"\0\x7f\0\0\1" + good[5:]][number % 8])
    decoded = format_of(registry).decoder(pa.schema([("id", pa.int64())])).decode(Payloads(items))
    expected = {n: [1, 2**40, 3][n % 3] for n in range(300) if n % 8 in (0, 3, 5)}
    assert dict(zip(decoded.message_index.to_pylist(), decoded.rows.column(0).to_pylist(), strict=True)) == expected
    assert [error.index for error in decoded.errors] == [n for n in range(300) if n % 8 in (2, 4, 6, 7)]


def test_errors_of_messages_name_the_schema(registry: Any, topic: str) -> None:
    other = registry.register(f"{topic}-value", {"type": "record", "name": "a", "fields": []})
    items = [b"\0\x7f\xff\xff\xff{}", frame_of(other) + b"{}"]
    decoded = format_of(registry).decoder(pa.schema([("id", pa.int64())])).decode(Payloads(items))
    assert [error.reason for error in decoded.errors] == [
        f"schema 2147483647 is not in the registry at {registry.url}",
        f"schema {other} is of type AVRO, expected JSON",
    ]


def test_times_that_kafka_connect_wrote_as_numbers(registry: Any, topic: str) -> None:
    def number(kind: str, width: str) -> dict[str, Any]:
        title = f"org.apache.kafka.connect.data.{kind}"
        return {"oneOf": [{"type": "null"}, {"type": "integer", "connect.type": width, "title": title}]}

    text = schema_of(day=number("Date", "int32"), at=number("Timestamp", "int64"), time=number("Time", "int32"))
    schema_id = registry.register_text(f"{topic}-value", text, "JSON")
    columns = pa.schema([("at", pa.timestamp("us", "Europe/Berlin")), ("day", pa.date32()), ("time", pa.time64("us"))])
    message = frame_of(schema_id) + b'{"day":19844,"at":1714566615250,"time":1500}'
    text_id = registry.register_text(f"{topic}-value", VERSIONS[0], "JSON")
    as_text = frame_of(text_id) + b'{"day":"2024-05-01","at":"2024-05-01T12:30:15.25Z","time":"00:00:01.5"}'
    expected = {
        "at": dt.datetime(2024, 5, 1, 12, 30, 15, 250_000, dt.UTC),
        "day": dt.date(2024, 5, 1),
        "time": dt.time(0, 0, 1, 500_000),
    }
    assert read(format_of(registry), columns, [message, as_text, message]) == [expected] * 3


ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "at": dt.datetime(2024, 5, 1, 12, 30, 15, 250_001, dt.UTC), "amount": Decimal("1.50"), "name": None}],
    schema=pa.schema(
        [
            pa.field("id", pa.int64(), False),
            ("at", pa.timestamp("us", "UTC")),
            ("amount", pa.decimal128(10, 2)),
            ("name", pa.string()),
        ]
    ),
)


def test_this_writes_and_confluents_client_reads(registry: Any, topic: str) -> None:
    (message,) = write(format_of(registry), topic, ROWS)
    client = SchemaRegistryClient({"url": registry.url})
    read_value = JSONDeserializer(None, schema_registry_client=client)
    found = read_value(message, ClientContext(topic, MessageField.VALUE))
    assert found == {"id": 1, "at": "2024-05-01T12:30:15.250001Z", "amount": 1.5, "name": None}


def test_confluents_client_writes_and_this_reads(registry: Any, topic: str) -> None:
    client = SchemaRegistryClient({"url": registry.url})
    serializer = JSONSerializer(VERSIONS[0], client)
    message = serializer(WRITTEN[0], ClientContext(topic, MessageField.VALUE))
    columns = pa.schema([("old", pa.bool_()), ("id", pa.int32())])
    assert read(format_of(registry), columns, [message]) == [{"old": True, "id": 1}]


def test_a_schema_that_is_not_compatible_is_refused_in_the_registrys_words(registry: Any, topic: str) -> None:
    registry.register_text(f"{topic}-value", schema_of(id={"type": "string"}), "JSON")
    registry.keep_compatible(f"{topic}-value")
    with pytest.raises(RegistryError) as caught:
        write(format_of(registry), topic, ROWS)
    assert f"does not accept the schema of the rows for subject '{topic}-value'" in str(caught.value)
    assert "MEMBER_ADDED at /required" in str(caught.value)


def test_without_registration_the_subject_must_have_the_schema(registry: Any, topic: str) -> None:
    with pytest.raises(RegistryError, match=r"Register it first, or set option 'auto.register.schemas' to true"):
        write(format_of(registry, auto_register=False), topic, ROWS)
    first = write(format_of(registry), topic, ROWS)
    assert write(format_of(registry, auto_register=False), topic, ROWS) == first
    assert read(format_of(registry), ROWS.schema, first) == ROWS.to_pylist()


def test_a_given_schema_is_registered(registry: Any, topic: str) -> None:
    (message,) = write(format_of(registry, schema=VERSIONS[1], ignore_null_fields=True), topic, ROWS)
    assert message is not None
    assert message[5:] == b'{"id":1,"at":"2024-05-01T12:30:15.250001Z","amount":1.50}'
    assert registry.schemas(f"{topic}-value") == [json.loads(VERSIONS[1])]
    with pytest.raises(OptionsError, match=r"option 'schema' is invalid: expected a JSON object"):
        format_of(registry, schema="[]").decoder(ROWS.schema)


def test_a_frame_may_hold_a_line_break(registry: Any, topic: str) -> None:
    ids = [registry.register_text(f"{topic}-{number}", VERSIONS[0], "JSON") for number in range(2)]
    for number in range(300):
        text = schema_of(**{f"a{number}": {"type": "integer"}})
        ids.append(registry.register_text(f"{topic}-value", text, "JSON"))
        if ids[-1] % 256 == 10:
            break
    format_ = format_of(registry, schema=text)
    rows = pa.RecordBatch.from_pylist([{"id": 1}, {"id": 2}])
    messages = write(format_, topic, rows)
    assert messages[0] == frame_of(ids[-1]) + b'{"id":1}'
    assert read(format_of(registry), rows.schema, messages) == rows.to_pylist()


def test_without_topic_and_subject_a_write_is_refused(registry: Any) -> None:
    with pytest.raises(OptionsError, match=r"option 'subject' is required where rows are not written to a topic"):
        format_of(registry).encoder(ROWS.schema).encode(ROWS)
