"""Properties of avro: rows survive a round trip, and the fast and the exact path agree on any bytes."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.testing.format import check_decoded
from millrace_formats.avro import AvroFormat, AvroOptions
from millrace_formats.avro.reader.datum_reader import DatumReader
from millrace_formats.avro.reader.decoder import AvroDecoder
from millrace_formats.avro.reader.resolution import resolve
from millrace_formats.avro.schema.derivation import derive_record, render_schema
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.avro.writer.encoder import BinaryWriter, DatumWriter
from millrace_formats.avro.writer.write_plan import plan_write
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.arrow_rows import ZONES, batches, scalar_types
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import encoded
from unit.formats.avro.schemas import Case, cases, datums, number, octets

# Each example is a whole batch of messages
FEW = settings(max_examples=settings.default.max_examples // 4)


def _nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=3)
    return (
        fields.map(lambda parts: pa.struct([pa.field("abc"[i], type_, null) for i, (type_, null) in enumerate(parts)]))
        | st.builds(lambda type_, null: pa.list_(pa.field("element", type_, null)), inner, st.booleans())
        | st.builds(lambda type_, null: pa.map_(pa.string(), pa.field("value", type_, null)), inner, st.booleans())
    )


TYPES = st.recursive(st.sampled_from(scalar_types()), _nested, max_leaves=4)


def without_micros(value: Any) -> Any:
    """Cut off the microseconds of a value."""
    if isinstance(value, dict):
        return {name: without_micros(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(without_micros(inner) for inner in value)
    if isinstance(value, dt.datetime | dt.time):
        return value.replace(microsecond=value.microsecond // 1000 * 1000)
    return value


@st.composite
def rows_for_avro(draw: st.DrawFn, millis: bool) -> pa.RecordBatch:
    """Draw rows with names that are valid in Avro, and times that its types hold."""
    rows = draw(batches(TYPES))
    names = ["a", "b", "c"][: rows.num_columns]
    schema = pa.schema(
        [pa.field(name, field.type, field.nullable) for name, field in zip(names, rows.schema, strict=True)]
    )
    lists = [column.to_pylist() for column in rows.columns]
    if millis or has_times(schema):
        lists = without_micros(lists)
    return pa.RecordBatch.from_arrays([pa.array(v, f.type) for v, f in zip(lists, schema, strict=True)], schema=schema)


def has_times(schema: pa.Schema) -> bool:
    return "time64" in str(schema)


def facts(decoded: Any) -> tuple[Any, ...]:
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    return repr(decoded.rows.to_pylist()), index, decoded.errors


@st.composite
def messages(draw: st.DrawFn, case: Case) -> list[bytes | None]:
    good = datums(parse_schema(case.text))
    broken = st.tuples(good, st.integers(0, 60), st.binary(max_size=3), st.integers(0, 1)).map(
        lambda part: part[0][: part[1]] + part[2] + part[0][part[1] + len(part[2]) * part[3] :]
    )
    odd = st.sampled_from([None, b"", b"\0", number(2**62), number(-(2**63)) * 3, b"\xff" * 12, b"\x80" * 9 + b"\1"])
    return draw(st.lists(st.one_of(good, good, good, broken, odd, st.binary(max_size=20)), max_size=30))


@FEW
@given(st.data(), st.booleans())
def test_both_readers_agree_on_any_mix_of_messages(data: st.DataObject, legacy: bool) -> None:
    case = data.draw(cases())
    items = data.draw(messages(case))
    plan = resolve(parse_schema(case.text), None, case.columns, legacy=legacy)
    fast = AvroDecoder(case.columns, plan).decode(Payloads(items))
    check_decoded(fast, case.columns, len(items))
    exact = FallbackDecoder(case.columns, None, DatumReader(plan)).decode(Payloads(items))
    assert facts(fast) == facts(exact)


@FEW
@given(st.data())
def test_a_message_reads_the_same_alone_and_among_others(data: st.DataObject) -> None:
    case = data.draw(cases())
    items = data.draw(messages(case))
    decoder = AvroDecoder(case.columns, resolve(parse_schema(case.text), None, case.columns, legacy=True))
    together = decoder.decode(Payloads(items))
    found = range(len(items)) if together.message_index is None else together.message_index.to_pylist()
    rows = dict(zip(found, together.rows.to_pylist(), strict=True))
    reasons = {error.index: error.reason for error in together.errors}
    for index, item in enumerate(items):
        alone = decoder.decode(Payloads([item]))
        assert repr(alone.rows.to_pylist()) == repr([rows[index]] if index in rows else [])
        assert [error.reason for error in alone.errors] == ([reasons[index]] if index in reasons else [])


@pytest.mark.parametrize("options", [AvroOptions(), AvroOptions(legacy_timestamps=False), AvroOptions(encoding="json")])
@given(data=st.data())
def test_what_is_written_is_read(options: AvroOptions, data: st.DataObject) -> None:
    rows = data.draw(rows_for_avro(millis=options.legacy_timestamps))
    format_ = AvroFormat(options)
    decoded = format_.decoder(rows.schema).decode(format_.encoder(rows.schema).encode(rows))
    assert not decoded.errors
    assert repr(decoded.rows.to_pylist()) == repr(rows.to_pylist())


@given(rows_for_avro(millis=False), st.sampled_from([b"", b"\0\0\0\0\7", b"\0\xff\x80\0\1"]))
def test_both_writers_agree(rows: pa.RecordBatch, frame: bytes) -> None:
    put = plan_write("avro", derive_record(list(rows.schema), False), rows.schema, legacy=False)
    assert list(BinaryWriter(put, frame).write(rows).to_list()) == list(DatumWriter(put, frame).write(rows).to_list())


@given(rows_for_avro(millis=True))
def test_slices_are_written_as_their_rows(rows: pa.RecordBatch) -> None:
    encoder = AvroFormat().encoder(rows.schema)
    whole = list(encoder.encode(rows).to_list())
    for start in range(rows.num_rows):
        assert list(encoder.encode(rows.slice(start, 2)).to_list()) == whole[start : start + 2]


@given(rows_for_avro(millis=True))
def test_another_library_reads_the_same(rows: pa.RecordBatch) -> None:
    schema = json.loads(render_schema(derive_record(list(rows.schema), True)))
    fastavro.parse_schema(schema)
    for message, row in zip(AvroFormat().encoder(rows.schema).encode(rows).to_list(), rows.to_pylist(), strict=True):
        assert message is not None
        assert comparable(value_of(schema, message)) == comparable(row, rows.schema)


def comparable(value: Any, of: Any = None) -> Any:
    """Return a value as fastavro reads it: maps as dicts, times in UTC."""
    if isinstance(value, dict):
        types = {field.name: field.type for field in of} if of is not None else {}
        return {name: comparable(inner, types.get(name)) for name, inner in value.items()}
    if isinstance(value, list) and of is not None and pt.is_map(of):
        return {name: comparable(inner, of.item_type) for name, inner in value}
    if isinstance(value, list):
        return [comparable(inner, None if of is None else of.value_type) for inner in value]
    if isinstance(value, dt.datetime):
        # The derived schema has no local timestamps by default
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    return repr(value) if isinstance(value, float) else value


PLAIN = st.recursive(
    st.sampled_from(["boolean", "int", "long", "float", "double", "string", "bytes"]),
    lambda inner: (
        inner.map(lambda items: {"type": "array", "items": items})
        | inner.map(lambda values: {"type": "map", "values": values})
        | inner.filter(lambda type_: not isinstance(type_, list)).map(lambda type_: ["null", type_])
    ),
    max_leaves=3,
)
ARROW = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "string": pa.string(), "bytes": pa.binary(),
}  # fmt: skip


def arrow_type(schema: Any) -> pa.DataType:
    if isinstance(schema, str):
        return ARROW[schema]
    if isinstance(schema, list):
        return arrow_type(schema[1])
    if schema["type"] == "array":
        return pa.list_(arrow_type(schema["items"]))
    return pa.map_(pa.string(), arrow_type(schema["values"]))


@given(PLAIN, st.data())
def test_the_exact_reader_agrees_with_another_library(schema: Any, data: st.DataObject) -> None:
    record = {"type": "record", "name": "R", "fields": [{"name": "a", "type": schema}]}
    columns = pa.schema([("a", arrow_type(schema))])
    plan = resolve(parse_schema(json.dumps(record)), None, columns, legacy=True)
    message = data.draw(datums(parse_schema(json.dumps(record))))
    read = FallbackDecoder(columns, None, DatumReader(plan)).decode(Payloads([message]))
    if read.errors:
        assert "is not an int" in read.errors[0].reason or "not UTF-8" in read.errors[0].reason
        return
    (found,) = read.rows.column(0).to_pylist()
    assert comparable(value_of(record, message)["a"]) == comparable(found, columns.field(0).type)


@pytest.mark.parametrize("type_", [*scalar_types(), pa.list_(pa.int32()), pa.map_(pa.string(), pa.string())], ids=str)
@given(data=st.data())
def test_malformed_json_raises_nothing(type_: pa.DataType, data: st.DataObject) -> None:
    schema = pa.schema([("a", type_)])
    parts = st.sampled_from(
        ["{", "}", '"a"', ":", "null", '"', "int", "1", "-", "e", "[", "]", ",", '"int"', '"string"', "\\ud800", "NaN",
         '{"a":null}', '{"a":{"int":1}}', '{"a":{"long":1}}', '{"a":{"string":"x"}}', '{"a":{"bytes":"\\u00ff"}}']
    )  # fmt: skip
    texts = st.lists(parts, max_size=8).map("".join).map(str.encode) | st.binary(max_size=9)
    items = data.draw(st.lists(texts, max_size=10))
    decoded = AvroFormat(AvroOptions(encoding="json")).decoder(schema).decode(Payloads(items))
    check_decoded(decoded, schema, len(items))


BOMBS = [
    number(2**62),  # a length that no message has
    number(-(2**63)) + number(0),
    number(10**9) + b"\0",
    octets(b"x" * 10)[:5],
    b"\xff" * 9 + b"\1",
    b"\2" * 50_000,
]


@FEW
@given(st.data(), st.sampled_from(BOMBS))
def test_wrong_lengths_are_errors(data: st.DataObject, bomb: bytes) -> None:
    case = data.draw(cases())
    good = data.draw(datums(parse_schema(case.text)))
    place = data.draw(st.integers(0, len(good)))
    items = [good, good[:place] + bomb, good]
    decoder = AvroDecoder(case.columns, resolve(parse_schema(case.text), None, case.columns, legacy=True))
    check_decoded(decoder.decode(Payloads(items)), case.columns, len(items))


def test_timestamps_have_the_zone_of_the_column() -> None:
    instant = dt.datetime(2024, 5, 1, 12, 0, tzinfo=dt.UTC)
    for zone in ZONES:
        schema = pa.schema([("a", pa.timestamp("us", zone))])
        message = AvroFormat().encoder(schema).encode(pa.RecordBatch.from_pylist([{"a": instant}], schema=schema))
        assert message.to_list() == [encoded(["null", "long"], 1_714_564_800_000)]
        assert AvroFormat().decoder(schema).decode(message).rows.to_pylist() == [{"a": instant}]
