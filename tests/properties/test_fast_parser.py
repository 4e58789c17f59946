"""Rows that are read without inference are those that inference finds to fit, with the same values."""

from __future__ import annotations

import json

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st

from millrace.errors import MalformedMessageError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader, Observation
from millrace_catalog.inference.observation import TableChange
from millrace_cdc.runtime.fast_parser import fast_parser
from millrace_cdc.runtime.row_values import row_converter

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
