"""Messages that rules of the registry encrypt: refused in a sentence, or decrypted by Confluent's rule executors.

Confluent's registry and key registry are those in memory, and the key service is its local one.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleParams, RuleSet, Schema
from confluent_kafka.schema_registry.rule_registry import RuleRegistry
from confluent_kafka.serialization import MessageField, SerializationContext

from millrace.contracts import Format, Payloads
from millrace.errors import MachineError, RegistryError
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.debezium_format import DebeziumAvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions, DebeziumAvroOptions
from millrace_formats.json.confluent_format import JsonConfluentFormat
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.protobuf.confluent_format import ProtobufConfluentFormat
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.registry.client import registry_client
from millrace_formats.registry.frame import frame_of
from support.names import unique_name
from support.registry_messages import read, write

EXECUTORS = "confluent_kafka.schema_registry.rules.encryption.encrypt_executor"

SECRET = ("rule.executors._default_.param.secret", "hush")
COLUMNS = pa.schema([("id", pa.int64()), ("name", pa.string())])
ROWS = [{"id": number, "name": f"Ann {number}"} for number in range(3)]

NAME = {"name": "name", "type": ["null", "string"], "confluent:tags": ["PII"]}
AVRO = {"type": "record", "name": "Person", "fields": [{"name": "id", "type": "long"}, NAME]}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", AVRO], "default": None},
        {"name": "after", "type": ["null", "Person"]},
        {"name": "op", "type": "string"},
    ],
}
JSON = {
    "type": "object",
    "title": "Person",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string", "confluent:tags": ["PII"]},
        "amount": {"type": "number"},
    },
}


class Encrypted(NamedTuple):
    """A format, and the type and the text of a schema with fields to encrypt."""

    make: Callable[..., Any]
    kind: str
    text: str


AVRO_FORMAT = Encrypted(lambda **more: AvroConfluentFormat(AvroRegistryOptions(**more)), "AVRO", json.dumps(AVRO))
DEBEZIUM = Encrypted(
    lambda **more: DebeziumAvroConfluentFormat(DebeziumAvroOptions(**more)), "AVRO", json.dumps(ENVELOPE)
)
JSON_FORMAT = Encrypted(lambda **more: JsonConfluentFormat(JsonRegistryOptions(**more)), "JSON", json.dumps(JSON))


def protobuf() -> Encrypted:
    """Return protobuf's, whose schema is a descriptor, as Confluent's registry answers; its field is tagged below."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

    file = FileDescriptorProto(name="person.proto", syntax="proto3")
    message = file.message_type.add(name="Person")
    for number, (name, type_) in enumerate((("id", "TYPE_INT64"), ("name", "TYPE_STRING")), 1):
        message.field.add(name=name, number=number, type=getattr(FieldDescriptorProto, type_), label=1)
    text = base64.b64encode(file.SerializeToString()).decode()
    return Encrypted(lambda **more: ProtobufConfluentFormat(ProtobufRegistryOptions(**more)), "PROTOBUF", text)


FORMATS = {"avro": AVRO_FORMAT, "debezium": DEBEZIUM, "json": JSON_FORMAT, "protobuf": protobuf()}


def rule(mode: RuleMode = RuleMode.WRITEREAD, kind: str = "ENCRYPT", **more: Any) -> Rule:
    key = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "mine"}
    fields = {"tags": None if kind == "ENCRYPT_PAYLOAD" else ["PII"], "on_failure": "NONE", "disabled": False, **more}
    return Rule(
        "hideNames", "", RuleKind.TRANSFORM, mode, kind, params=RuleParams(key), expr=None, on_success=None, **fields
    )


def register(format_: Any, encrypted: Encrypted, *rules: Rule, subject: str = "people-value") -> int:
    """Register a schema with rules, and return its id; a field of protobuf is tagged by the schema's metadata."""
    from confluent_kafka.schema_registry import Metadata, MetadataTags

    encoding = [one for one in rules if one.type == "ENCRYPT_PAYLOAD"]
    domain = [one for one in rules if one.type != "ENCRYPT_PAYLOAD"]
    metadata = Metadata(tags=MetadataTags({"Person.name": ["PII"]}), properties=None, sensitive=None)
    schema = Schema(encrypted.text, encrypted.kind, metadata=metadata, rule_set=RuleSet(None, domain, encoding))
    return int(library_of(format_).register_schema(subject, schema))


def library_of(format_: Any) -> Any:
    return registry_client(format_.name, format_.options).library


def format_of(encrypted: Encrypted, **more: Any) -> Any:
    return encrypted.make(url=f"mock://{unique_name('registry')}", **more)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["ENCRYPT", "ENCRYPT_PAYLOAD"])
def test_without_rule_executors_messages_are_refused_and_not_read_as_ciphertext(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where the extra is not installed
    monkeypatch.setitem(sys.modules, EXECUTORS, None)
    format_ = format_of(FORMATS[name], subject="people-value")
    schema_id = register(format_, FORMATS[name], rule(kind=kind))
    with pytest.raises(MachineError) as refused:
        format_.decoder(COLUMNS).decode(Payloads([frame_of(schema_id) + b"\0x"]))
    sentence = str(refused.value)
    assert sentence.startswith(f"messages of schema {schema_id} are encrypted by rule 'hideNames', and what decrypts")
    assert "rules]' on the driver and all executors" in sentence
    if name == "debezium":
        with pytest.raises(MachineError, match="are encrypted by rule 'hideNames'"):
            format_.connect_reader()(frame_of(schema_id) + b"\0x")


@pytest.mark.parametrize("off", [{"disabled": True}, {"mode": RuleMode.WRITE}, {"kind": "CEL"}])
def test_rules_that_readers_do_not_decrypt_by_change_nothing(off: dict[str, Any]) -> None:
    format_ = format_of(AVRO_FORMAT)
    schema_id = register(format_, AVRO_FORMAT, rule(**off))
    assert read(format_, COLUMNS, [frame_of(schema_id) + b"\x0e\x02\x04me"]) == [{"id": 7, "name": "me"}]


@pytest.mark.parametrize("name", ["avro", "json", "protobuf"])
def test_a_write_in_clear_is_refused(name: str) -> None:
    format_ = format_of(FORMATS[name])
    register(format_, FORMATS[name], rule())
    rows = pa.RecordBatch.from_pylist(ROWS, COLUMNS)
    with pytest.raises(
        RegistryError, match="has the rule 'hideNames', which encrypts messages, and messages cannot be"
    ):
        write(format_, "people", rows)


def serialize(format_: Format, encrypted: Encrypted, values: list[Any]) -> list[bytes]:
    """Write values by Confluent's own serializer, which encrypts them with the subject's key."""
    from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import (
        EncryptionExecutor,
        FieldEncryptionExecutor,
    )
    from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver

    LocalKmsDriver.register()
    rules = RuleRegistry()
    for executor in (FieldEncryptionExecutor(), EncryptionExecutor()):
        inner = getattr(executor, "executor", executor)
        inner.client = registry_client(format_.name, format_.options).keys
        rules.register_executor(executor)
    conf = {"auto.register.schemas": False, "use.latest.version": True, "subject.name.strategy.type": "TOPIC"}
    serializer = _serializer(encrypted, library_of(format_), conf, rules)
    context = SerializationContext("people", MessageField.VALUE)
    return [serializer(value, context) for value in values]


def _serializer(encrypted: Encrypted, library: Any, conf: dict[str, Any], rules: RuleRegistry) -> Any:
    secret = {"secret": SECRET[1]}
    if encrypted.kind == "AVRO":
        from confluent_kafka.schema_registry.avro import AvroSerializer

        return AvroSerializer(library, encrypted.text, conf=conf, rule_conf=secret, rule_registry=rules)
    if encrypted.kind == "JSON":
        from confluent_kafka.schema_registry.json_schema import JSONSerializer

        return JSONSerializer(encrypted.text, library, conf=conf, rule_conf=secret, rule_registry=rules)
    from confluent_kafka.schema_registry.protobuf import ProtobufSerializer

    conf = {**conf, "use.deprecated.format": False}
    return ProtobufSerializer(_person(encrypted), library, conf, rule_conf=secret, rule_registry=rules)


def _person(encrypted: Encrypted) -> Any:
    from millrace_formats.protobuf.registry.schemas import parse_schema
    from millrace_formats.registry.schema_registry import SchemaText

    return parse_schema(SchemaText(encrypted.text)).message_class((0,))


def values_of(encrypted: Encrypted) -> list[Any]:
    if encrypted is DEBEZIUM:
        return [{"before": None, "after": dict(row), "op": "c"} for row in ROWS]
    return [_person(encrypted)(**row) if encrypted.kind == "PROTOBUF" else dict(row) for row in ROWS]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["ENCRYPT", "ENCRYPT_PAYLOAD"])
def test_messages_are_decrypted_where_there_is_a_key(name: str, kind: str) -> None:
    encrypted = FORMATS[name]
    format_ = format_of(encrypted, subject="people-value", properties=(SECRET,))
    # A rule of another type is not applied
    register(format_, encrypted, rule(kind=kind), rule(kind="CEL"))
    messages = serialize(format_, encrypted, values_of(encrypted))
    assert not any(b"Ann" in message for message in messages)
    decoded = format_.decoder(COLUMNS).decode(Payloads([*messages[:1], None, b"\0\0\0\0\x09x", *messages[1:]]))
    assert [error.index for error in decoded.errors] == [2]
    assert decoded.rows.to_pylist() == ROWS
    if name == "debezium":
        assert format_.connect_reader()(messages[0]).value["after"] == {"id": 0, "name": "Ann 0"}

        return
    (error,) = format_.decoder(COLUMNS).decode(Payloads([messages[0][:-1] + b"?"])).errors
    assert "are encrypted by rule 'hideNames', and this one cannot be decrypted: " in error.reason


def test_decrypted_numbers_keep_all_their_digits() -> None:
    format_ = format_of(JSON_FORMAT, subject="people-value", properties=(SECRET,))
    register(format_, JSON_FORMAT, rule())
    (message,) = serialize(format_, JSON_FORMAT, [{"id": 2**62 + 1, "name": "Ann", "amount": 0.5}])
    exact = message.replace(b"0.5", b"1234567890.12345678901234567890")
    (row,) = read(format_, COLUMNS.append(pa.field("amount", pa.decimal128(30, 20))), [exact])
    assert (row["id"], row["name"], str(row["amount"])) == (2**62 + 1, "Ann", "1234567890.12345678901234567890")


def test_without_a_key_messages_are_refused_in_a_sentence() -> None:
    format_ = format_of(AVRO_FORMAT, subject="people-value", properties=(SECRET,))
    register(format_, AVRO_FORMAT, rule())
    messages = serialize(format_, AVRO_FORMAT, values_of(AVRO_FORMAT))
    registry_client(format_.name, format_.options).keys._kek_cache.clear()
    with pytest.raises(RegistryError) as refused:
        format_.decoder(COLUMNS).decode(Payloads(messages))
    assert "are encrypted by rule 'hideNames', and there is no key to decrypt them: no kek found" in str(refused.value)
    assert "'avro-confluent.properties.rule.executors._default_.param.*'" in str(refused.value)
