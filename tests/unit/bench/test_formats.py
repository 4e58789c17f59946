from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from bench.data import ARROW_SCHEMA, csv_record, json_record, record_rows
from bench.formats import FORMATS, format_case
from bench.formats.case import plugin
from bench.pool import Pool
from bench.schema_registry import SchemaRegistry

from millrace.contracts import Payloads


@pytest.mark.parametrize(("name", "record"), [("json", json_record), ("csv", csv_record)])
def test_records_are_the_same_in_each_format(name: str, record: Any) -> None:
    messages = [record(index) for index in (*range(3), *range(86_399, 86_402))]
    decoded = plugin(name, {}).create().decoder(ARROW_SCHEMA).decode(Payloads(messages))

    assert decoded.rows.to_pylist() == [*record_rows(0, 3).to_pylist(), *record_rows(86_399, 86_402).to_pylist()]


@pytest.mark.parametrize("name", FORMATS)
def test_messages_hold_the_records_and_bad_ones_cannot_be_read(name: str, tmp_path: Path) -> None:
    with SchemaRegistry() as registry:
        case = format_case(name, registry, tmp_path, jars={})
        good = case.messages(20, 30)
        decoder = case.plugin.create().decoder(ARROW_SCHEMA)
        decoded = decoder.decode(Payloads([good[0], case.bad(good[1]), *good[2:]]))

    assert [error.index for error in decoded.errors] == [1]
    if not case.has_row_kinds:
        assert decoded.rows.to_pylist() == [*record_rows(20, 21).to_pylist(), *record_rows(22, 30).to_pylist()]
    else:
        new = [
            row
            for row, kind in zip(decoded.rows.to_pylist(), decoded.row_kinds.to_pylist(), strict=True)
            if kind in ("+I", "+U")
        ]
        assert new == [*record_rows(20, 21).to_pylist(), *record_rows(22, 29).to_pylist()]


def test_what_is_written_by_hand_is_what_millrace_writes(tmp_path: Path) -> None:
    with SchemaRegistry() as registry:
        case = format_case("protobuf", registry, tmp_path, jars={})
    assert case.by_hand is not None
    messages = case.messages(0, 50)

    assert case.by_hand.messages(record_rows(0, 50)) == messages
    assert case.by_hand.rows(messages).equals(record_rows(0, 50))


def test_one_message_of_10_000_of_a_pool_is_bad(tmp_path: Path) -> None:
    with SchemaRegistry() as registry:
        case = format_case("csv", registry, tmp_path, jars={})
    bench: Any = SimpleNamespace(records=30_000, spark=None)
    pool = Pool(bench, case, tmp_path / "messages.parquet", has_bad=True)

    found = pq.read_table(pool.file).column("value").to_pylist()
    assert pool.records == 30_000
    assert [index for index, message in enumerate(found) if message != csv_record(index)] == [5_000, 15_000, 25_000]
