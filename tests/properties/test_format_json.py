"""Properties of the json format: what is written is read, and both paths of each side agree, whatever the bytes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace.testing.format import check_decoded
from millrace_formats.json import JsonFormat, JsonOptions
from millrace_formats.json.arrow_json import ArrowJsonConverter
from millrace_formats.json.decoder import JsonDecoder
from millrace_formats.json.exact_reader import JsonExactReader
from millrace_formats.json.exact_writer import JsonExactWriter
from millrace_formats.shared.fallback_decoder import FallbackDecoder
from unit.formats.arrow_rows import batches, scalar_types, types


def _json_object(pairs: list[tuple[str, str]]) -> str:
    return "{" + " , ".join(f'"{name}":{text}' for name, text in pairs) + "}"


OPTIONS = st.builds(
    JsonOptions,
    ignore_parse_errors=st.booleans(),
    timestamp_format=st.sampled_from(["SQL", "ISO-8601"]),
    decimal_as_plain_number=st.booleans(),
    ignore_null_fields=st.booleans(),
) | st.sampled_from(
    [JsonOptions(fail_on_missing_field=True), JsonOptions(ignore_parse_errors=True, ignored_scope="row")]
)

TIMES = st.sampled_from(
    [
        "2024-05-01 12:34:56", "2024-05-01T12:34:56", "2024-05-01 12:34:56.5Z", "2024-05-01T12:34:56Z",
        "2024-05-01 12:34:56.123456789", "2024-03-31 02:30:00", "2024-10-27 02:30:00", "2024-02-30 00:00:00",
        "2024-05-01 12:34:56+02:00", "2024-05-01T12:34:56.1-0230", "2024-05-01 24:00:00", "0001-01-01 00:00:00",
        "0000-01-01 00:00:00", "0001-01-01 00:00:00+14:00", "9999-12-31 23:59:59.9999999", "9999-12-31 23:59:59-01:00",
        "2024-05-01 12:34:56.1+05", "2024-05-01 12:34", "2024-05-01", "2024-02-30", "0000-01-01", "9999-12-31",
        "2024-5-1", "12:34:56", "24:00:00", "12:34:56.123456789", "2024-05-01 12:34:56.12345Z", "2024-05-01 12:34:5Z",
        "2024-05-01 1:34:56.Z", "2024-05-01 12:34:56.-05:00", "2024-05-01 12:34:56.12-5:00", "2024-05-0112:34:56",
    ]
)  # fmt: skip
NUMBERS = st.sampled_from(
    [
        "0", "-0", "-0.0", "1", "-1", "127", "128", "-129", "32768", "2147483648", "9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "1.5", "1e2", "1E-2", "1e400", "-1e400", "1e-400", "0.005",
        "1e-39", "1e-77", "1e-999999999", "1e999999999", "123456789012345678901234567890", "99999999999999999999.5",
        "0.1", "1.7976931348623159e308", "16777217", "7", "12345678901234567890.123456789012345678", "0e5", "1.10",
    ]
) | st.integers().map(str) | st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.decimals(
    allow_nan=False, allow_infinity=False
).map(str)  # fmt: skip
TEXTS = (
    st.text(st.characters(codec="utf-8"))
    | TIMES
    | NUMBERS
    | st.sampled_from(["true", "NaN", "x", " 7 ", "+7", "1_0", "٣"])
)
STRINGS = TEXTS.map(lambda text: json.dumps(text, ensure_ascii=False)) | st.binary(max_size=9).map(
    lambda data: json.dumps(base64.b64encode(data).decode())
)
ODD = st.sampled_from(
    [
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"a\nb"',
        '"\\/\\u0041"',
        "NaN",
        "Infinity",
        "01",
        "1.",
        "nul",
        "",
        '"',
        "{",
        "[1,",
        '"\\q"',
    ]
)
ANY_JSON = st.recursive(
    NUMBERS | STRINGS | st.sampled_from(["null", "true", "false"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | st.lists(st.tuples(st.sampled_from(["a", "b", "f0", "\\u0061"]), inner), max_size=3).map(_json_object)
    ),
    max_leaves=6,
)


def texts_for(type_: pa.DataType) -> st.SearchStrategy[str]:
    """JSON that is often, but not always, what a column of a type expects."""
    if pa.types.is_struct(type_):
        names = [type_.field(i).name for i in range(type_.num_fields)]
        good = objects_for({name: type_.field(i).type for i, name in enumerate(names)})
    elif pa.types.is_map(type_):
        pairs = st.tuples(st.sampled_from(["a", "1", "-0", "2024-05-01"]), texts_for(type_.item_type))
        good = st.lists(pairs, max_size=3).map(_json_object)
    elif pa.types.is_list(type_):
        good = st.lists(texts_for(type_.value_type), max_size=3).map(lambda items: "[" + ",".join(items) + "]")
    elif type_ in (pa.string(), pa.binary()) or pa.types.is_temporal(type_):
        good = STRINGS if type_ in (pa.string(), pa.binary()) else TIMES.map(json.dumps)
    else:
        good = st.sampled_from(["true", "false"]) if type_ == pa.bool_() else NUMBERS
    return st.one_of(*[good] * 8, st.just("null"), ANY_JSON, ODD)


def objects_for(fields: dict[str, pa.DataType]) -> st.SearchStrategy[str]:
    pairs = [st.tuples(st.just(name), texts_for(type_)) for name, type_ in fields.items()]
    extra = st.lists(st.tuples(st.sampled_from(["zz", "b", "\\u0061"]), ANY_JSON), max_size=1)
    return st.tuples(st.lists(st.one_of(pairs) if pairs else st.nothing(), max_size=4), st.tuples(*pairs), extra).map(
        lambda parts: _json_object([*parts[0], *parts[1], *parts[2]])
    )


@st.composite
def schemas_with_messages(draw: st.DrawFn) -> tuple[pa.Schema, list[bytes | None]]:
    names = draw(st.lists(st.sampled_from(["a", "b", "class", "A b"]), min_size=1, max_size=3, unique=True))
    schema = pa.schema([pa.field(name, draw(types()), draw(st.booleans())) for name in names])
    good = objects_for({field.name: field.type for field in schema}).map(str.encode)
    broken = st.tuples(good, st.integers(0, 200), st.binary(max_size=3)).map(
        lambda p: p[0][: p[1]] + p[2] + p[0][p[1] :]
    )
    blank = st.sampled_from([None, b"", b" \n", b"null", b"{}", b"[]", b"\xef\xbb\xbf{}", b"{}{}", b"\xff"])
    return schema, draw(st.lists(st.one_of(good, good, good, broken, blank, st.binary(max_size=20)), max_size=12))


def facts(decoded: Any) -> tuple[Any, ...]:
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    return repr(decoded.rows.to_pylist()), index, decoded.errors


@given(schemas_with_messages(), OPTIONS)
def test_both_readers_agree_on_any_mix_of_messages(
    case: tuple[pa.Schema, list[bytes | None]], options: JsonOptions
) -> None:
    schema, messages = case
    fast = JsonDecoder(schema, options).decode(Payloads(messages))
    check_decoded(fast, schema, len(messages))
    exact = FallbackDecoder(schema, None, JsonExactReader(schema, options)).decode(Payloads(messages))
    assert facts(fast) == facts(exact)


@given(schemas_with_messages(), OPTIONS)
def test_a_message_reads_the_same_alone_and_among_others(
    case: tuple[pa.Schema, list[bytes | None]], options: JsonOptions
) -> None:
    schema, messages = case
    decoder = JsonDecoder(schema, options)
    together = decoder.decode(Payloads(messages))
    found = range(len(messages)) if together.message_index is None else together.message_index.to_pylist()
    rows = dict(zip(found, together.rows.to_pylist(), strict=True))
    reasons = {error.index: error.reason for error in together.errors}
    for index, message in enumerate(messages):
        alone = decoder.decode(Payloads([message]))
        assert repr(alone.rows.to_pylist()) == repr([rows[index]] if index in rows else [])
        assert [error.reason for error in alone.errors] == ([reasons[index]] if index in reasons else [])


@given(batches(), OPTIONS)
def test_what_is_written_is_read(rows: pa.RecordBatch, options: JsonOptions) -> None:
    if options.fail_on_missing_field:
        options = JsonOptions()
    format_ = JsonFormat(options)
    decoded = format_.decoder(rows.schema).decode(format_.encoder(rows.schema).encode(rows))
    assert not decoded.errors
    assert repr(decoded.rows.to_pylist()) == repr(rows.to_pylist())


@given(batches(), OPTIONS)
def test_both_writers_agree(rows: pa.RecordBatch, options: JsonOptions) -> None:
    encoded = JsonFormat(options).encoder(rows.schema).encode(rows).to_list()
    exact = JsonExactWriter(rows.schema, options).write(ArrowJsonConverter(rows.schema, options).convert(rows).rows)
    assert list(encoded) == exact
    for line in encoded:
        json.loads(line)


@given(batches())
def test_slices_are_written_as_their_rows(rows: pa.RecordBatch) -> None:
    encoder = JsonFormat().encoder(rows.schema)
    whole = list(encoder.encode(rows).to_list())
    for start in range(rows.num_rows):
        assert list(encoder.encode(rows.slice(start, 2)).to_list()) == whole[start : start + 2]


@pytest.mark.parametrize("type_", scalar_types(), ids=str)
@given(data=st.data())
def test_both_readers_agree_on_every_scalar_type(type_: pa.DataType, data: st.DataObject) -> None:
    schema = pa.schema([("a", type_), ("b", pa.list_(type_))])
    one = st.tuples(texts_for(type_), texts_for(pa.list_(type_)))
    pairs = data.draw(st.lists(one, min_size=1, max_size=8))
    messages = [f'{{"a":{a},"b":{b}}}'.encode() for a, b in pairs]
    options = data.draw(OPTIONS)
    fast = JsonDecoder(schema, options).decode(Payloads(messages))
    exact = FallbackDecoder(schema, None, JsonExactReader(schema, options)).decode(Payloads(messages))
    assert facts(fast) == facts(exact)
