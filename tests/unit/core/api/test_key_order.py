"""Rows divided by key: what Python workers do for streams, and what is refused."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

import millrace
from millrace.api import key_order
from millrace.errors import OptionsError

POSITION = "__millrace_position"
OPTIONS = {
    "properties.bootstrap.servers": "h:1",
    "properties.ssl.key.password": "hidden",
    "topic": "orders",
    "key.format": "json",
    "key.fields": "id;country",
    "value.format": "json",
}


def test_rows_of_a_task_are_numbered_on_from_those_of_the_tasks_before(monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(get=lambda: SimpleNamespace(partitionId=lambda: 2))
    monkeypatch.setattr(key_order, "TaskContext", context)
    batches = [pa.record_batch({"id": [7, 8]}), pa.record_batch({"id": [9]})]
    numbered = list(key_order._number_rows(batches))
    assert [batch.column(POSITION).to_pylist() for batch in numbered] == [[2 << 33, (2 << 33) + 1], [(2 << 33) + 2]]
    assert [batch.column("id").to_pylist() for batch in numbered] == [[7, 8], [9]]


def test_rows_are_sorted_by_the_columns_and_then_as_they_came() -> None:
    batches = [
        pa.record_batch({"id": ["c", "a"], "at": [2, None], POSITION: [3, 4]}),
        pa.record_batch({"id": ["b", "d"], "at": [2, 1], POSITION: [1, 2]}),
    ]
    (by_position,) = key_order._SortRows((POSITION,))(batches)
    assert by_position.to_pydict() == {"id": ["b", "d", "c", "a"], "at": [2, 1, 2, None]}
    (by_time,) = key_order._SortRows(("at", POSITION))(batches)
    assert by_time.to_pydict() == {"id": ["d", "b", "c", "a"], "at": [1, 2, 2, None]}


def test_sorted_rows_come_in_batches() -> None:
    batches = [pa.record_batch({"id": range(25_000), POSITION: range(25_000, 0, -1)})]
    sizes = [batch.num_rows for batch in key_order._SortRows((POSITION,))(batches)]
    assert sizes == [10_000, 10_000, 5_000]
    assert list(key_order._SortRows((POSITION,))([])) == []


@pytest.mark.parametrize("arguments", [{"keys": []}, {"keys": ""}, {"keys": "id", "tasks": 0}])
def test_a_division_needs_a_key_and_tasks(arguments: dict[str, Any]) -> None:
    with pytest.raises(OptionsError, match="expected columns of a key, and a number of tasks above 0"):
        millrace.repartition_by_key(cast(Any, None), **arguments)


def test_a_callback_takes_the_key_from_the_options_and_shows_no_secret() -> None:
    write = millrace.upsert_batches(OPTIONS, ordering="at", tasks=4)
    assert (write.key_columns, write.ordering, write.tasks) == (("id", "country"), ("at",), 4)
    assert write.options["connector"] == "upsert-kafka"
    assert pickle.loads(pickle.dumps(write)) == write
    assert "hidden" not in repr(write)


def test_the_options_of_a_callback_are_checked_at_once() -> None:
    with pytest.raises(OptionsError, match=r"unknown option 'topicc'; did you mean 'topic'\?"):
        millrace.upsert_batches({**OPTIONS, "topicc": "orders"})
    with pytest.raises(OptionsError, match="'connector' must be 'upsert-kafka', or left out"):
        millrace.upsert_batches({**OPTIONS, "connector": "kafka"})
    exactly_once = {**OPTIONS, "sink.delivery-guarantee": "exactly-once"}
    with pytest.raises(OptionsError, match=r"'sink\.transactional-id-prefix' is required"):
        millrace.upsert_batches(exactly_once)
