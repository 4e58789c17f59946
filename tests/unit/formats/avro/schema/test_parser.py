"""Schemas that are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.errors import OptionsError
from millrace_formats.avro import AvroFormat, AvroOptions


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is not JSON"),
        ("7", "7 is not a type"),
        ('"int"', "must be the schema of a record"),
        ('{"type":"record"}', "has no name"),
        ('{"type":"record","name":"R"}', "has no fields"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"Other"}]}', "the type Other is not defined"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":["int","int"]}]}', "not a union of different types"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":-1}}]}', "size"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}', "two fields"),
    ],
)  # fmt: skip
def test_invalid_schemas_are_refused(text: str, problem: str) -> None:
    with pytest.raises(OptionsError, match=problem):
        AvroFormat(AvroOptions(schema=text)).decoder(pa.schema([("a", pa.int32())]))
