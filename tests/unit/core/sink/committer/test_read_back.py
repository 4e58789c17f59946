from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.errors import LedgerError
from millrace.records.producer_records import ProducerRecords
from millrace.sink.committer.read_back import CommittedRecords, digest


def records(*values: bytes | None, keys: list[bytes | None] | None = None) -> ProducerRecords:
    return ProducerRecords("orders", Payloads(list(values)), None if keys is None else Payloads(keys))


def test_of_equal_records_as_many_are_missing_as_are_not_there() -> None:
    there = CommittedRecords([digest("orders", None, value, None) for value in (b"a", b"b", b"b")])
    assert there.missing(records(b"a", b"a", b"b")).values.to_list() == [b"a"]
    assert there.missing(records(b"b", b"b", b"c")).values.to_list() == [b"b", b"c"]
    nothing = there.missing(records())
    assert len(nothing) == 0


@pytest.mark.parametrize(
    "other",
    [
        ("orders", b"", b"v", None),
        ("orders", b"k", b"v", None),
        ("orders", None, b"", None),
        ("orders", None, None, None),
        ("orders2", None, b"v", None),
        ("orders", None, b"v", [("h", None)]),
        ("orders", None, b"v", [("h", b"")]),
    ],
)
def test_records_that_differ_in_anything_are_others(other: tuple[str, bytes | None, bytes | None, None]) -> None:
    assert digest(*other) != digest("orders", None, b"v", None) == digest("orders", None, b"v", [])


def test_what_belongs_to_a_missing_record_stays_with_it() -> None:
    headers: list[list[tuple[str, bytes | None]]] = [[("h", b"0")], [("h", b"1")], [("h", b"2")]]
    found = ProducerRecords(
        "orders",
        Payloads([b"a", b"a", b"a"]),
        Payloads([b"x", b"y", b"z"]),
        headers,
        pa.array([0, 1, None], pa.int32()),
    )
    missing = CommittedRecords([digest("orders", b"x", b"a", headers[0])]).missing(found)
    assert (missing.values.to_list(), missing.headers) == ([b"a", b"a"], headers[1:])
    assert missing.keys is not None
    assert missing.partitions is not None
    assert (missing.keys.to_list(), missing.partitions.to_pylist()) == ([b"y", b"z"], [1, None])


def test_records_with_timestamps_are_refused() -> None:
    timed = ProducerRecords("orders", Payloads([b"a"]), timestamps=pa.array([1], pa.int64()))
    with pytest.raises(LedgerError, match="these rows give the timestamps"):
        CommittedRecords([]).missing(timed)
