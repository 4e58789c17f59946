"""Writes to upsert tables: random changes of a table, in any batches, leave that table in the topic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace.sink.writer.record_builder import record_builder_for
from millrace.sink.writer.upsert_record_builder import UpsertRecordBuilder
from support.records import keys_of, sink_config, values_of

KEYS = "abcde"
Change = tuple[str, str, int]
Record = tuple[str, int | None]


@st.composite
def change_logs(draw: st.DrawFn) -> list[Change]:
    """Changes of a table from its creation on; those of a filtered table lack some new rows of updates."""
    table: dict[str, int] = {}
    changes: list[Change] = []
    for number, (key, action) in enumerate(draw(st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 3))))):
        if key not in table:
            changes.append(("+I", key, number))
            table[key] = number
        elif action == 0:
            changes.append(("-D", key, table.pop(key)))
        elif action == 1:
            # It leaves the filter
            changes.append(("-U", key, table.pop(key)))
        else:
            changes += [("-U", key, table[key]), ("+U", key, number)]
            table[key] = number
    # Old and new rows of several keys may come between one another, those of one key in order
    positions = draw(st.permutations(range(len(changes))))
    order = sorted(range(len(changes)), key=positions.__getitem__)
    by_key = {key: iter([change for change in changes if change[1] == key]) for key in KEYS}
    return [next(by_key[changes[index][1]]) for index in order]


def final_table(changes: Sequence[Change]) -> dict[str, int]:
    table: dict[str, int] = {}
    for kind, key, value in changes:
        if kind in ("+I", "+U"):
            table[key] = value
        else:
            table.pop(key, None)
    return table


def records_of(changes: Sequence[Change], cuts: Sequence[int], max_rows: int) -> list[Record]:
    buffer = {"sink_buffer-flush_max-rows": str(max_rows), "sink_buffer-flush_interval": "1 h"} if max_rows else {}
    options = {"topic": "t", "key_format": "raw", "key_fields": "id", "value_format": "json"}
    config = sink_config(connector="upsert-kafka", **options, **buffer)
    kinds, keys, values = ([change[column] for change in changes] for column in range(3))
    columns = {"row_kind": pa.array(kinds, pa.string()), "id": pa.array(keys, pa.string())}
    rows = pa.record_batch({**columns, "value": pa.array(values, pa.int64())})
    builder = UpsertRecordBuilder(record_builder_for(config, rows.schema), config.options, rows.schema)
    bounds = sorted({0, *(cut % (len(changes) + 1) for cut in cuts), len(changes)})
    built = [each for start, end in pairwise(bounds) for each in builder.build(rows[start:end])]
    built += builder.finish()
    return [
        (str(key, "utf-8"), None if value is None else int(bytes(value).split(b'"value":')[1].rstrip(b"}")))
        for records in built
        for key, value in zip(keys_of(records), values_of(records), strict=True)
    ]


def is_subsequence(short: Sequence[object], long: Sequence[object]) -> bool:
    rest = iter(long)
    return all(each in rest for each in short)


@given(change_logs(), st.lists(st.integers(0, 200)), st.integers(0, 4))
def test_a_topic_has_the_latest_rows_in_the_order_of_their_changes(
    changes: list[Change], cuts: list[int], max_rows: int
) -> None:
    records = records_of(changes, cuts, max_rows)
    latest = dict(records)
    assert {key: value for key, value in latest.items() if value is not None} == final_table(changes)
    assert latest.keys() == {key for _, key, _ in changes}
    for key in KEYS:
        written = [value for each, value in records if each == key]
        changed = [value if kind in ("+I", "+U") else None for kind, each, value in changes if each == key]
        assert is_subsequence(written, changed)


@given(change_logs(), st.lists(st.integers(0, 200)))
def test_without_a_buffer_each_new_row_is_written_and_no_replaced_one_deleted(
    changes: list[Change], cuts: list[int]
) -> None:
    records = records_of(changes, cuts, 0)
    assert [record for record in records if record[1] is not None] == [
        (key, value) for kind, key, value in changes if kind in ("+I", "+U")
    ]
    last = {key: kind for kind, key, _ in changes}
    deletes = [key for kind, key, _ in changes if kind == "-D"] + [key for key, kind in last.items() if kind == "-U"]
    assert sorted(key for key, value in records if value is None) == sorted(deletes)


@given(change_logs(), st.lists(st.integers(0, 200)), st.integers(1, 4))
def test_a_buffer_never_writes_more(changes: list[Change], cuts: list[int], max_rows: int) -> None:
    buffered = records_of(changes, cuts, max_rows)
    assert len(buffered) <= len(records_of(changes, cuts, 0))
    # Batches do not decide what is written: a repeated task writes the same
    assert buffered == records_of(changes, [], max_rows)
