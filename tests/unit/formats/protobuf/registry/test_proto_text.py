"""The text of descriptors, and descriptors that have none."""

from __future__ import annotations

import pytest

from millrace.errors import SchemaError
from millrace_formats.protobuf.registry.proto_text import proto_text
from millrace_formats.protobuf.registry.schemas import parse_schema
from millrace_formats.registry.schema_registry import SchemaText

PROTO3 = """syntax = "proto3";
package shop.orders;
import public "google/protobuf/timestamp.proto";
option java_package = "com.example \\"shop\\"";
option java_multiple_files = true;
enum Kind { option allow_alias = true; A = 0; B = 0; C = 3 [deprecated = true]; reserved 7 to 9; reserved "D"; }
message Order {
  reserved 20, 30 to 32;
  reserved "old";
  message Line { string sku = 1; Kind kind = 2; enum E { Z = 0; } E e = 3; }
  repeated int32 counts = 1 [packed = false];
  map<string, Line> lines = 2;
  optional bytes data = 3 [deprecated = true];
  oneof choice { int64 number = 4; google.protobuf.Timestamp at = 5; }
  uint64 last = 6;
}
"""
PROTO2 = """syntax = "proto2";
message A { required int32 a = 1; optional string b = 2 [default = "x\\"y"]; optional E e = 3 [default = TWO]; }
enum E { ONE = 1; TWO = 2; }
"""


@pytest.mark.parametrize("text", [PROTO3, PROTO2])
def test_the_text_of_a_file_is_the_same_file(text: str) -> None:
    schema = parse_schema(SchemaText(text))
    again = parse_schema(SchemaText(proto_text(schema.file, schema.files[:-1]).text))
    assert {field.name for field in again.message_class((0,)).DESCRIPTOR.fields} == {
        field.name for field in schema.message_class((0,)).DESCRIPTOR.fields
    }
    assert proto_text(again.file, again.files[:-1]).file == again.file


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto3"; message A {} service S { rpc Do (A) returns (A); }',
        'syntax = "proto2"; message A { optional group G = 1 { optional int32 x = 1; } }',
        'syntax = "proto2"; message A { extensions 5 to 9; }',
        """syntax = "proto3"; import "confluent/meta.proto";
        message A { int32 a = 1 [(confluent.field_meta).doc = "x"]; }""",
    ],
)
def test_what_has_no_text_here_is_refused(text: str) -> None:
    schema = parse_schema(SchemaText(text))
    with pytest.raises(SchemaError, match="fields for the columns cannot be added to the latest schema of the subject"):
        proto_text(schema.file, schema.files[:-1])
