"""Schemas of a registry as descriptors: texts, descriptors in base64, references, and what is refused."""

from __future__ import annotations

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from millrace_formats.protobuf.registry.schemas import ProtobufSchema, parse_schema
from millrace_formats.registry.schema_registry import SchemaReference, SchemaText

ORDER = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/type/date.proto";
message Order { google.protobuf.Timestamp at = 1; google.type.Date day = 2; message Line { string sku = 1; } }
message Other { int32 x = 1; }
"""
MONEY = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
BILL = 'syntax = "proto3"; package shop; import "shop/money.proto"; message Bill { Money total = 1; }'


def serialize_file(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


def names(schema: ProtobufSchema) -> dict[str, tuple[int, ...]]:
    return {name: path for name, path, _ in schema.messages()}


@pytest.mark.parametrize("is_text", [True, False])
def test_text_and_descriptor_are_the_same_schema(is_text: bool) -> None:
    schema = parse_schema(SchemaText(ORDER))
    if not is_text:
        schema = parse_schema(SchemaText(serialize_file(schema.file)))
    assert names(schema) == {"shop.Order": (0,), "shop.Order.Line": (0, 0), "shop.Other": (1,)}
    assert [field.name for field in schema.message_class((0,)).DESCRIPTOR.fields] == ["at", "day"]
    assert schema.path_of(None) == (0,)
    assert schema.path_of("shop.Order.Line") == (0, 0)
    with pytest.raises(ValueError, match=r"no message 'Line', but shop\.Order, shop\.Order\.Line, shop\.Other"):
        schema.path_of("Line")
    with pytest.raises(ValueError, match=r"no message with the indexes \[0, 7\]"):
        schema.message_class((0, 7))


@pytest.mark.parametrize("is_text", [True, False])
def test_references_are_imports(is_text: bool) -> None:
    money = MONEY if is_text else serialize_file(parse_schema(SchemaText(MONEY)).file)
    reference = SchemaReference("shop/money.proto", money, "money", 1)
    schema = parse_schema(SchemaText(BILL, (reference,), ("shop/money.proto",)))
    total = schema.message_class((0,)).DESCRIPTOR.fields_by_name["total"]
    assert total.message_type.full_name == "shop.Money"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("message {", "Expected message name"),
        (BILL, "shop/money.proto: File not found"),
        ('syntax = "proto3";', "it has no messages"),
        (base64.b64encode(b"").decode(), "it has no messages"),
        (
            serialize_file(FileDescriptorProto(name="a", dependency=["b.proto"])),
            "schema.proto imports 'b.proto', which is not among its references",
        ),
    ],
)
def test_schemas_that_are_none_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_schema(SchemaText(text))


@pytest.mark.parametrize("name", ["../a.proto", "/tmp/a.proto", "-I.proto", ""])
def test_a_references_name_is_no_path_out_of_the_compilers_folder(name: str) -> None:
    with pytest.raises(ValueError, match="is not a name of a proto file"):
        parse_schema(SchemaText(BILL, (SchemaReference(name, MONEY, "money", 1),), (name,)))
