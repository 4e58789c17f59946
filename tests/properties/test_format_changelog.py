"""Properties of the formats of changes: what is written is read, and both readers agree, whatever the bytes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millrace.contracts import ROW_KINDS, Payloads
from millrace.testing.format import check_decoded
from millrace_formats.changelog.canal_json import CanalJsonFormat, CanalOptions
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions
from millrace_formats.changelog.decoder import ChangeDecoder
from millrace_formats.changelog.exact_reader import ExactChangeReader
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat
from millrace_formats.changelog.ogg_json import OggJsonFormat
from millrace_formats.changelog.options import ChangeOptions
from millrace_formats.json import JsonFormat, JsonOptions
from properties.test_format_json import ANY_JSON, NUMBERS, ODD, STRINGS, TIMES, objects_for
from unit.formats.arrow_rows import batches, types, values

# An example of these is a whole batch of messages
FEW = settings(max_examples=settings.default.max_examples // 4)

SHARED: dict[str, st.SearchStrategy[Any]] = {
    "ignore_parse_errors": st.booleans(),
    "timestamp_format": st.sampled_from(["SQL", "ISO-8601"]),
    "decimal_as_plain_number": st.booleans(),
    "ignore_null_fields": st.booleans(),
}
PATTERNS = st.sampled_from([None, None, "shop", "sho.*", "[0-9]+"])
FORMATS: dict[str, st.SearchStrategy[ChangelogJsonFormat]] = {
    "debezium": st.builds(DebeziumOptions, **SHARED).map(DebeziumJsonFormat),
    "debezium with schemas": st.builds(DebeziumOptions, schema_include=st.just(True), **SHARED).map(DebeziumJsonFormat),
    "canal": st.builds(CanalOptions, database_include=PATTERNS, table_include=PATTERNS, **SHARED).map(CanalJsonFormat),
    "maxwell": st.builds(ChangeOptions, **SHARED).map(MaxwellJsonFormat),
    "ogg": st.builds(ChangeOptions, **SHARED).map(OggJsonFormat),
}


def quoted(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return strategy.map(json.dumps)


def mostly(*good: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """JSON that is good but for once in a while."""
    return st.integers(0, 60).flatmap(lambda chance: st.one_of(*good) if chance else st.just("null") | ANY_JSON | ODD)


def arrays(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items, max_size=3).map(lambda texts: "[" + ",".join(texts) + "]")


def objects(fields: Mapping[str, st.SearchStrategy[str]], optional: Collection[str] = ()) -> st.SearchStrategy[str]:
    """Objects of fields in any order, rarely with one of them twice, or without one that is not optional."""
    present = st.tuples(
        *(
            st.tuples(st.just(name), st.booleans() if name in optional else st.integers(0, 60).map(bool), text)
            for name, text in fields.items()
        )
    )
    again = st.integers(0, 20).flatmap(
        lambda chance: st.just(()) if chance else st.tuples(st.tuples(st.sampled_from([*fields, "zz"]), ANY_JSON))
    )
    return st.tuples(present, again, st.randoms()).map(lambda parts: _object(*parts))


def _object(fields: tuple[tuple[str, bool, str], ...], again: tuple[tuple[str, str], ...], chance: Any) -> str:
    pairs = [*again, *((name, text) for name, is_there, text in fields if is_there)]
    chance.shuffle(pairs)
    return "{" + ",".join(f'"{name}" : {text}' for name, text in pairs) + "}"


def good_values(field: pa.Field, iso: bool) -> st.SearchStrategy[str]:
    """JSON of a column's values; scalars may be text, as some tools write them."""
    schema = pa.schema([field.with_name("x")])
    encoder = JsonFormat(JsonOptions(timestamp_format="ISO-8601" if iso else "SQL")).encoder(schema)

    def text(value: Any, as_text: bool) -> str:
        (line,) = encoder.encode(pa.RecordBatch.from_arrays([pa.array([value], field.type)], schema=schema)).to_list()
        found = (line or b"")[len(b'{"x":') : -1].decode()
        return json.dumps(found) if as_text and found[0] not in '"[{n' else found

    return st.builds(text, values(field.type, field.nullable), st.booleans())


NAMES = mostly(quoted(st.sampled_from(["shop", "shop2", "7", "ü"])))
TIMES_OF_DAY = quoted(
    st.sampled_from(["2020-05-13 15:40:06.123456", "2020-05-13T15:40:06.000000", "2020-05-13T15:40Z"])
)
MILLIS = mostly(
    st.sampled_from(["0", "-1", "1589362330904", '"1589362330904"', "253402300799999", "-62135596800000", "null"])
) | mostly(st.sampled_from(["253402300800000", "-62135596800001", "1e3", "-0"]), NUMBERS, STRINGS)
MOMENTS = mostly(TIMES_OF_DAY) | mostly(quoted(TIMES))
NAME_LISTS = mostly(arrays(NAMES))


class Tool(NamedTuple):
    """A tool's changes: its operations, and the fields of its metadata."""

    operation: str
    names: tuple[str, ...]
    told: dict[str, st.SearchStrategy[str]]


TOOLS = {
    "debezium": Tool(
        "op",
        ("c", "r", "u", "d"),
        {
            "source": mostly(
                objects(
                    {"db": NAMES, "schema": NAMES, "table": NAMES, "ts_ms": MILLIS, "more": ANY_JSON | STRINGS},
                    optional=("schema", "more"),
                )
            ),
            "ts_ms": MILLIS,
        },
    ),
    "canal": Tool(
        "type",
        ("INSERT", "UPDATE", "DELETE", "CREATE"),
        {
            "database": NAMES,
            "table": NAMES,
            "pkNames": NAME_LISTS,
            "ts": MILLIS,
            "es": MILLIS,
            "sqlType": mostly(objects({"a": st.just("4"), "b": NUMBERS | st.just("-5")}, optional="b")),
        },
    ),
    "maxwell": Tool(
        "type",
        ("insert", "update", "delete"),
        {"database": NAMES, "table": NAMES, "primary_key_columns": NAME_LISTS, "ts": MILLIS},
    ),
    "ogg": Tool(
        "op_type",
        ("I", "U", "D"),
        {"table": NAMES, "primary_keys": NAME_LISTS, "current_ts": MOMENTS, "op_ts": MOMENTS},
    ),
}
SCHEMAS = mostly(st.sampled_from(['{"type": "struct"}', '{"a":[1, 2.50],"a":"\\u00fc"}', '"x"']))


def envelopes(name: str, schema: pa.Schema, iso: bool) -> st.SearchStrategy[str]:
    """Messages of a tool."""
    columns = {field.name: good_values(field, iso) for field in schema}
    any_row = objects_for({field.name: field.type for field in schema})
    row = st.integers(0, 20).flatmap(lambda chance: objects(columns) if chance else any_row)
    partial = st.integers(0, 20).flatmap(lambda chance: objects(columns, optional=columns) if chance else any_row)
    tool = TOOLS[name.split()[0]]
    operation = mostly(quoted(st.sampled_from(tool.names)))
    if name == "canal":
        # two of each, so that an update has as many old rows as new ones
        rows = {"data": mostly(arrays_of_two(row)), "old": mostly(arrays_of_two(partial))}
    elif name == "maxwell":
        rows = {"data": mostly(row), "old": mostly(partial)}
    else:
        rows = {"before": mostly(row), "after": mostly(row)}
    change = {tool.operation: operation, **rows, **tool.told}
    if name == "debezium with schemas":
        return objects({"payload": mostly(objects(change)), "schema": SCHEMAS})
    return objects({**change, "schema": SCHEMAS} if name == "debezium" else change)


def arrays_of_two(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(items, items).map(lambda texts: "[" + ",".join(texts) + "]")


class Case(NamedTuple):
    format: ChangelogJsonFormat
    schema: pa.Schema
    keys: list[str]
    messages: list[bytes | None]

    def fast(self) -> ChangeDecoder:
        decoder = self.format.decoder(self.schema, self.keys)
        assert isinstance(decoder, ChangeDecoder)
        return decoder

    def exact(self) -> ChangeDecoder:
        keys, dialect = [self.format.keys[key] for key in self.keys], self.format.dialect
        told = pa.schema([(name, key.reader.type) for name, key in zip(self.keys, keys, strict=True)])
        reader = ExactChangeReader(self.schema, keys, dialect, self.format.options.json)
        return ChangeDecoder(self.schema, told, None, reader)


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    names = draw(st.lists(st.sampled_from(["a", "b", "class", "A b"]), min_size=1, max_size=3, unique=True))
    schema = pa.schema([pa.field(name, draw(types()), draw(st.booleans())) for name in names])
    made = draw(FORMATS[name])
    good = envelopes(name, schema, made.options.json.iso).map(lambda text: text.encode("utf-8", "surrogatepass"))
    broken = st.tuples(good, st.integers(0, 300), st.binary(max_size=3)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
    )
    blank = st.sampled_from([None, b"", b" \n", b"null", b"{}", b"[]", b"\xef\xbb\xbf{}", b"{}{}", b"\xff"])
    messages = draw(st.lists(st.one_of(*[good] * 8, broken, blank), max_size=10))
    keys = draw(st.lists(st.sampled_from(list(made.keys)), unique=True, max_size=4))
    return Case(made, schema, keys, messages)


def facts(decoded: Any) -> tuple[Any, ...]:
    index = None if decoded.message_index is None else decoded.message_index.to_pylist()
    metadata = None if decoded.metadata is None else decoded.metadata.to_pylist()
    return repr(decoded.rows.to_pylist()), decoded.row_kinds.to_pylist(), index, decoded.errors, metadata


@pytest.mark.parametrize("name", FORMATS)
@FEW
@given(data=st.data())
def test_both_readers_agree_on_any_mix_of_messages(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    fast = case.fast().decode(Payloads(case.messages))
    check_decoded(fast, case.schema, len(case.messages))
    assert facts(fast) == facts(case.exact().decode(Payloads(case.messages)))


@pytest.mark.parametrize("name", FORMATS)
@FEW
@given(data=st.data())
def test_a_message_reads_the_same_alone_and_among_others(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    decoder = case.fast()
    together = decoder.decode(Payloads(case.messages))
    count = together.rows.num_rows
    index = range(count) if together.message_index is None else together.message_index.to_pylist()
    rows = list(zip(index, together.row_kinds.to_pylist(), map(repr, together.rows.to_pylist()), strict=True))
    for place, message in enumerate(case.messages):
        alone = decoder.decode(Payloads([message]))
        own = zip(alone.row_kinds.to_pylist(), map(repr, alone.rows.to_pylist()), strict=True)
        assert [(place, *row) for row in own] == [row for row in rows if row[0] == place]
        reasons = [error.reason for error in together.errors if error.index == place]
        assert [error.reason for error in alone.errors] == reasons


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "debezium with schemas"])
@given(data=st.data(), rows=batches())
def test_what_is_written_is_read(name: str, data: st.DataObject, rows: pa.RecordBatch) -> None:
    made = data.draw(FORMATS[name])
    # What canal writes does not say which table it is of
    made = CanalJsonFormat() if name == "canal" else made
    kinds = data.draw(st.lists(st.sampled_from(ROW_KINDS), min_size=rows.num_rows, max_size=rows.num_rows))
    encoded = made.encoder(rows.schema).encode(rows, pa.array(kinds, pa.string()))
    decoded = made.decoder(rows.schema).decode(encoded)
    assert not decoded.errors
    assert repr(decoded.rows.to_pylist()) == repr(rows.to_pylist())
    assert decoded.row_kinds is not None
    assert decoded.row_kinds.to_pylist() == [{"-U": "-D", "+U": "+I"}.get(kind, kind) for kind in kinds]
    for payload in encoded.to_list():
        json.loads(payload or b"")
