"""Rows that a worker sends to another one; `tests/integration/test_shared_sessions.py` has real workers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.sink.committer import shared_sessions
from millrace.sink.committer.shared_sessions import MAX_BYTES

EMPTY = pa.record_batch({"value": pa.array([], pa.string())})


def batch(*values: str) -> pa.RecordBatch:
    return pa.record_batch({"value": list(values)})


def received(stream: bytes, *, is_abandoned: bool = False) -> list[pa.RecordBatch]:
    return list(shared_sessions._rows(stream, lambda: is_abandoned))


@pytest.mark.parametrize("batches", [[batch("a", "b")], [EMPTY, batch("a", "b"), EMPTY], [batch("x", "a", "b")[1:]]])
def test_one_batch_with_rows_is_sent_and_kept(batches: list[pa.RecordBatch]) -> None:
    stream, rows = shared_sessions._few_rows(batches)
    assert stream is not None
    assert rows is not None
    assert received(stream) == list(rows) == [batch("a", "b")]


@pytest.mark.parametrize("batches", [[batch("a"), EMPTY, batch("b"), batch("c")], [batch("a" * MAX_BYTES)]])
def test_many_rows_are_not_sent(batches: list[pa.RecordBatch]) -> None:
    stream, rows = shared_sessions._few_rows(iter(batches))
    assert stream is None
    assert rows is not None
    assert [row for row in rows if row.num_rows] == [row for row in batches if row.num_rows]


def test_a_task_without_rows_sends_none() -> None:
    assert shared_sessions._few_rows([EMPTY]) == (None, None)


def test_rows_whose_task_has_ended_are_not_committed() -> None:
    stream, _ = shared_sessions._few_rows([batch("a")])
    assert stream is not None
    with pytest.raises(shared_sessions.AbandonedTaskError):
        received(stream, is_abandoned=True)
