"""Files of rows, which are there with all of them or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from millrace_cli.errors import CommandError
from millrace_cli.row_files import check_form, open_rows

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ROWS = pa.table({"id": [1, 2], "name": ["a", None], "at": pa.array([AT, None], pa.timestamp("us", "UTC"))})
NESTED = pa.table({"id": [1], "tags": [["a"]]})


def write(path: Path | None, *tables: pa.Table) -> None:
    with open_rows(path, tables[0].schema) as writer:
        for table in tables:
            writer.write(table)


def fail(path: Path, failure: BaseException) -> None:
    with open_rows(path, ROWS.schema) as writer:
        writer.write(ROWS)
        raise failure


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_form_has_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("rows.parquet", "rows.csv", "rows.jsonl"):
        write(tmp_path / name, ROWS, ROWS)
    write(None, ROWS)

    twice = pa.concat_tables([ROWS, ROWS])
    assert pq.read_table(tmp_path / "rows.parquet") == twice
    assert pc.read_csv(tmp_path / "rows.csv")["id"].to_pylist() == [1, 2, 1, 2]
    rows = [{"id": 1, "name": "a", "at": str(AT)}, {"id": 2, "name": None, "at": None}]
    assert lines((tmp_path / "rows.jsonl").read_text()) == rows * 2
    assert lines(capsys.readouterr().out) == rows


def test_small_batches_share_a_row_group_and_many_rows_do_not(tmp_path: Path) -> None:
    many = pa.table({"id": range(60_000)})
    write(tmp_path / "rows.parquet", *[many.slice(0, 10)] * 9, many, many, many)
    groups = pq.ParquetFile(tmp_path / "rows.parquet").metadata
    assert [groups.row_group(each).num_rows for each in range(groups.num_row_groups)] == [120_090, 60_000]


def test_without_rows_a_file_has_its_columns(tmp_path: Path) -> None:
    with open_rows(tmp_path / "rows.parquet", ROWS.schema):
        pass
    assert pq.read_schema(tmp_path / "rows.parquet") == ROWS.schema


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.jsonl"])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_after_a_failure_there_is_no_file(tmp_path: Path, name: str, failure: type[BaseException]) -> None:
    with pytest.raises(failure):
        fail(tmp_path / name, failure())
    assert list(tmp_path.iterdir()) == []


def test_after_a_failure_a_file_that_was_there_is_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("before")
    with pytest.raises(ValueError, match="as the test wants"):
        fail(file, ValueError("as the test wants"))
    assert file.read_text() == "before"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"a file that ends with one of .jsonl, .parquet, .csv, got 'rows.txt'"):
        check_form(Path("rows.txt"))
    with pytest.raises(CommandError, match=r"column tags is list<.*>, which csv cannot have: write .jsonl or"):
        write(tmp_path / "rows.csv", NESTED)
    with pytest.raises(CommandError, match="a row cannot be written as csv: Invalid UTF8 payload; write"):
        write(tmp_path / "rows.csv", pa.table({"value": [b"\xff"]}))
    with pytest.raises(CommandError, match=r"no/rows\.csv cannot be written: No such file or directory"):
        write(tmp_path / "no" / "rows.csv", ROWS)
    assert list(tmp_path.iterdir()) == []
