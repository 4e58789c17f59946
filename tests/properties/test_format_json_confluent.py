"""Properties of JSON behind a registry: what is written is read, and hostile frames raise nothing."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.testing.format import check_decoded
from millrace_formats.json.confluent_format import JsonConfluentFormat
from millrace_formats.json.registry.columns import columns_of
from millrace_formats.json.registry.derivation import derive_schema
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.json.registry.schemas import parse_schema
from millrace_formats.registry.schema_registry import SchemaText
from properties.test_format_protobuf_confluent import SCHEMAS, batches
from support.names import unique_name

FEW = settings(max_examples=settings.default.max_examples // 4)


def new_format() -> JsonConfluentFormat:
    """The format on the mock registry of Confluent's client, which lasts as long as the format's options."""
    return JsonConfluentFormat(JsonRegistryOptions(url=f"mock://{unique_name('registry')}", subject="rows-value"))


@FEW
# The id of a schema that is not in the registry
@example(pa.record_batch({"a": [None]}, pa.schema([("a", pa.bool_())])), [b"\0\0\0\0\0"])
@given(batches(), st.lists(st.none() | st.binary(max_size=9) | st.binary(max_size=9).map(b"\0\0\0\0\1".__add__)))
def test_rows_are_read_as_they_were_written_between_hostile_bytes(
    rows: pa.RecordBatch, hostile: list[bytes | None]
) -> None:
    format_ = new_format()
    good = list(format_.encoder(rows.schema).encode(rows).to_list())
    messages = [*hostile, *good]
    decoded = format_.decoder(rows.schema).decode(Payloads(messages))
    check_decoded(decoded, rows.schema, len(messages))
    assert decoded.rows.to_pylist()[-len(good) :] == rows.to_pylist()


@given(SCHEMAS)
def test_a_derived_schema_has_the_columns_that_it_is_derived_from(schema: pa.Schema) -> None:
    found = columns_of(parse_schema(SchemaText(derive_schema(schema))))
    assert found is not None
    assert [(field.name, str(field.type).replace(" not null", "")) for field in found] == [
        (field.name, str(field.type).replace(" not null", "")) for field in schema
    ]
