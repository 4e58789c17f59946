"""Messages that are arrays of rows, in pipelines."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from millrace.change_dialects import SkipReason
from millrace.errors import MessageError
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_catalog.inference import JsonInferenceOptions
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.flattened_records import JsonRowOptions
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.task_reports import read_report

ARRAY = b'[{"id": 1, "n": 1}, null, {"id": 2, "n": 1.5}]'


def parse(settings: ParserSettings, *messages: bytes, paused=None):
    """Return table, operation, row and offset of each change, and the report."""
    count = len(messages)
    batch = pa.record_batch(
        {
            "topic": pa.array(["t"] * count),
            "partition": pa.array([3] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "timestamp": pa.array([datetime(2024, 5, 6, tzinfo=UTC)] * count, pa.timestamp("us", "UTC")),
            "key": pa.nulls(count, pa.binary()),
            "value": pa.array(messages, pa.binary()),
        }
    )
    *changes, last = ChangeParser(settings, {}, paused).parse(iter([batch]))
    rows = [row for change in changes for row in change.to_pylist()]
    found = [(row["table"], row["operation"], json.loads(row["after"] or row["before"]), row["offset"]) for row in rows]
    return found, read_report(last.column("report")[0].as_py())


def test_each_row_of_an_array_is_a_change_of_its_message() -> None:
    found, report = parse(ParserSettings("json", JsonInferenceOptions()), b'{"id": 0}', ARRAY, b"[]", b'{"id": 3}')
    assert [(row["id"], offset) for _, _, row, offset in found] == [(0, 0), (1, 1), (2, 1), (3, 3)]
    assert {(table, operation) for table, operation, _, _ in found} == {("t", "c")}
    assert report.tables["t"].rows == 4
    assert [each.columns for each in report.tables["t"].required][-1] == "id BIGINT NOT NULL, n DOUBLE NOT NULL"
    assert report.skipped[SkipReason.TOMBSTONE] == 1


def test_rows_may_be_of_several_tables_and_deletions() -> None:
    options = JsonRowOptions(table_fields=("t",), deletion_field="__op")
    message = b'[{"t": "a", "id": 1, "__op": "c"}, {"t": "b", "id": 2, "__op": "d"}]'
    found, _ = parse(ParserSettings("json", options), message)
    assert found == [("a", "c", {"t": "a", "id": 1}, 0), ("b", "d", {"t": "b", "id": 2}, 0)]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b'[{"id": 1}, 7]', "row 2 of its 2 rows: expected a JSON object, found 7"),
        (b'[{"id": 1}, [{"id": 2}]]', "row 2 of its 2 rows: expected a JSON object, found an array of 1 value"),
        (b'[{"id": 1}', "not JSON"),
    ],
)
def test_a_malformed_row_makes_its_message_malformed(message: bytes, problem: str) -> None:
    with pytest.raises(MessageError, match=f"topic 't', partition 3, offset 0: {problem}"):
        parse(ParserSettings("json", JsonInferenceOptions()), message)
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "logger")
    tolerant = ParserSettings("json", JsonInferenceOptions(), skips_malformed=True, collector=collector)
    found, report = parse(tolerant, message, ARRAY)
    assert [offset for *_, offset in found] == [1, 1]
    assert report.malformed == 1


def test_malformed_rows_are_skipped_one_by_one_where_they_are_ignored() -> None:
    settings = ParserSettings("json", JsonInferenceOptions(ignore_parse_errors=True))
    found, report = parse(settings, b'[{"id": 1}, 7, {"id": 2}]', b"[7]")
    assert [row for _, _, row, _ in found] == [{"id": 1}, {"id": 2}]
    assert report.skipped[SkipReason.IGNORED] == 2


def test_a_truncation_is_no_row_among_others() -> None:
    settings = ParserSettings("json", JsonRowOptions(deletion_field="__op"))
    with pytest.raises(MessageError, match="row 2 of its 2 rows: a truncation is a message of its own"):
        parse(settings, b'[{"id": 1, "__op": "c"}, {"__op": "t"}]')
    _, report = parse(settings, b'[{"__op": "t"}]')
    assert len(report.tables["t"].truncations) == 1


def test_a_paused_table_gives_only_its_own_rows_to_the_collector(caplog: pytest.LogCaptureFixture) -> None:
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "logger")
    settings = ParserSettings("json", JsonInferenceOptions(table_fields=("t",)), collector=collector)
    message = b'[{"t": "a", "id": 1}, {"t": "b", "id": 2}, {"t": "b", "id": 3}]'
    found, report = parse(settings, message, paused={"b": "by hand"})
    assert [(table, row["id"]) for table, _, row, _ in found] == [("a", 1)]
    assert report.collected == {"b": 2}
    assert [
        record.getMessage().count('{"t": "b", "id"') for record in caplog.records if "by hand" in record.getMessage()
    ] == [
        1,
        1,
    ]
    assert '"a"' not in caplog.text
