"""Rows that are read without inference are those that inference finds to fit, with the same values."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from millrace.errors import MalformedMessageError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader, Observation
from millrace_catalog.inference.declared_types import DeclaredTypes
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.types import parse_schema
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.row_conversion import row_converter
from millrace_cdc.runtime.fast_parser import fast_parser

EDGES = [0, -1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**37, 10**39]
TIMES = [
    "2024-05-06",
    "2024-02-29",
    "2023-02-29",
    "2024-04-31",
    "0000-01-01",
    "0001-01-01 00:00:00+01:00",
    "2024-05-06 07:08:09",
    "2024-05-06 07:08:09.123456",
    "2024-05-06 07:08:09.1234567",
    "2024-05-06 07:08:09Z",
    "2024-05-06 07:08:09+0130",
    "2024-05-06T07:08:09",
    "2024-05-06 24:00:00",
    "2024-05-06\n",
]
NAMES = st.sampled_from(["a", "b", "c d", "e.f", "`", "\u00fc"])
TEXTS = st.sampled_from(TIMES) | st.text(max_size=4)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | st.sampled_from(EDGES) | FLOATS | TEXTS
ONE_KIND = st.one_of(
    [st.lists(kind, min_size=1, max_size=3) for kind in (st.booleans(), st.integers(-5, 5), st.floats(-2, 2), TEXTS)]
)
VALUES = SCALARS | ONE_KIND | st.dictionaries(NAMES, SCALARS, max_size=2)
ROWS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=5)
OPTIONS = st.sampled_from([DebeziumInferenceOptions(), DebeziumInferenceOptions(primitive_as_string=True)])


@st.composite
def cases(draw):
    """Draw rows that make a table, and a change that may fit it: its rows have values of theirs, or others."""
    seen = draw(st.lists(ROWS, min_size=1, max_size=3))
    pools = {}
    for row in seen:
        for name, value in row.items():
            pools.setdefault(name, []).append(value)
    similar = st.fixed_dictionaries({}, optional={name: st.sampled_from(pool) for name, pool in pools.items()})
    image = similar | similar | st.builds(lambda one, other: one | other, similar, ROWS)
    operation = draw(st.sampled_from(["c", "r", "u", "d", "x"]))
    change = {
        "before": draw(st.none() if operation in "cr" else image),
        "after": draw(st.none() if operation == "d" else image),
        "op": draw(st.sampled_from([operation] * 5 + ["c", "u", "d"])),
        "source": draw(st.sampled_from([None, {"db": "shop", "table": "t"}, {"db": "", "table": 5}])),
    }
    return seen, json.dumps(change, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass"), draw(OPTIONS)


def observed(reader, payload):
    """Return the change of a message and its columns by inference; None where it has none."""
    try:
        change = reader.parse(payload)
        if isinstance(change, TableChange):
            return change, reader.columns_of(change)
    except MalformedMessageError:
        pass
    return None


@given(cases())
def test_what_is_read_without_inference_fits_by_inference_and_has_the_same_rows(case):
    seen, payload, options = case
    slow = DebeziumReader("topic", options)
    tracker = SchemaTracker("shop.t")
    for row in seen:
        _, columns = observed(slow, json.dumps({"after": row, "op": "c"}).encode())
        tracker.observe(Observation("shop.t", columns))
    fast = fast_parser(options, lambda _: str(tracker.schema) if len(tracker.schema) else None)
    found = fast.parse("topic", payload)
    event("fits" if found else "needs inference")
    if found is None:
        return

    change, columns = observed(slow, payload)
    assert tracker.observe(Observation("shop.t", columns)) == ()
    assert (found.table, found.operation) == (change.table, change.operation)
    convert = row_converter(tracker.schema)
    ((before, after),) = change.rows
    encoded = [None if image is None else msgspec.json.encode(convert(image)) for image in (before, after)]
    assert encoded == [found.before, found.after]


@given(st.lists(st.tuples(st.integers(-9, 9), st.floats(-2, 2), st.booleans(), st.text("xyz")), min_size=1))
def test_rows_of_a_tables_types_need_no_inference(rows):
    columns = "i BIGINT, f DOUBLE, b BOOLEAN, s STRING, t TIMESTAMP(6), d DATE, l ARRAY<BIGINT>"
    fast = fast_parser(DebeziumInferenceOptions(), lambda _: columns)
    for i, f, b, s in rows:
        row = {"i": i, "f": f, "b": b, "s": s, "t": "2024-12-31 23:59:59.5", "d": "2024-05-06", "l": [i, None]}
        payload = json.dumps({"before": None, "after": row, "op": "c"}).encode()
        assert fast.parse("topic", payload) == ("topic", "c", None, msgspec.json.encode(row))


DECLARED = (
    "a INT, b SMALLINT NOT NULL, c DECIMAL(6, 2), d DECIMAL(3, 3) NOT NULL, e DECIMAL(20), f FLOAT, g VARCHAR(3), "
    "h CHAR(2), i BYTES, j VARBINARY(4), k TIME(0), l TIME(3), m TIMESTAMP(0), n TIMESTAMP(3), o TIMESTAMP_LTZ(3)"
)
NUMBERS = [
    "0",
    "1",
    "-1",
    "32767",
    "32768",
    "1.5",
    "0.125",
    "-0.00",
    "12345.6",
    "1e2",
    "1E-3",
    "0.1",
    "0.123456789",
    "1.0",
]
NUMBERS += ["123456.12", "1234567", "9" * 20, "9" * 21, "3.4e38", "16777217", "null", '"1.5"', '"5"', "true"]
STRINGS = [
    "",
    "ab",
    "abcd",
    "\u00fc\u00fc\u00fc",
    "AAEC",
    "AAECAwQ=",
    "AA==",
    "A",
    "10:00:00",
    "10:00:00.5",
    "24:00:00",
]
STRINGS += ["2024-01-01 10:00:00", "2024-01-01 10:00:00.123", "2024-01-01 10:00:00.1234Z", "2024-01-01 10:00:00+01:00"]
JSON_VALUES = st.sampled_from(NUMBERS) | st.sampled_from(STRINGS).map(json.dumps)


@given(st.data())
def test_rows_of_declared_types_that_are_read_without_inference_fit_them_and_have_the_same_values(data):
    schema = parse_schema(DECLARED)
    names = data.draw(st.lists(st.sampled_from(schema.names), unique=True, min_size=1))
    columns = ", ".join(str(column) for column in schema if column.name in names)
    fields = [f'"{name}":{data.draw(JSON_VALUES)}' for name in names]
    payload = f'{{"after":{{{",".join(fields)}}},"op":"c"}}'.encode()
    options = DebeziumInferenceOptions()
    found = fast_parser(options, lambda _: columns).parse("topic", payload)
    event("fits" if found else "needs inference")
    if found is None:
        return

    change, inferred = observed(DebeziumReader("topic", options), payload)
    ((_, row),) = change.rows
    tracker = SchemaTracker("topic")
    tracker.create(parse_schema(columns))
    kept = DeclaredTypes(tracker.schema.types).keep(inferred, [row])
    assert tracker.observe(Observation("topic", kept)) == ()
    assert exact_json.encode(row_converter(tracker.schema)(row)) == found.after


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("INT", "-2147483648"),
        ("DECIMAL(6, 2)", "1234.50"),
        ("DECIMAL(38)", "9" * 38),
        ("FLOAT", "1.5"),
        ("VARCHAR(3)", '"abc"'),
        ("BYTES", '"AAECAw=="'),
        ("TIME(0)", '"10:00:00"'),
        ("TIMESTAMP(3)", '"2024-01-01 10:00:00.123"'),
        ("TIMESTAMP_LTZ(0)", '"2024-01-01 10:00:00Z"'),
    ],
)
def test_values_of_declared_types_need_no_inference(type_, value):
    fast = fast_parser(DebeziumInferenceOptions(), lambda _: f"v {type_}")
    row = f'{{"v":{value}}}'.encode()
    assert fast.parse("topic", b'{"after":%b,"op":"c"}' % row) == ("topic", "c", None, row)


def test_names_that_need_inference():
    assert (
        fast_parser(DebeziumInferenceOptions(), lambda _: '`say "x"` STRING').parse("t", b'{"after":{},"op":"c"}')
        is None
    )
