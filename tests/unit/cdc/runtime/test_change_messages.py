"""The messages of all dialects, read by pipelines: of a table that they know, and of a new one."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pytest

from millrace.change_dialects import SkipReason
from millrace.errors import MessageError
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions, FormatOptions
from millrace_cdc.runtime.change_parser import ChangeParser, ParserSettings, TableSchema
from millrace_cdc.runtime.task_reports import TaskReport, describe_skipped, read_report
from support.change_messages import CHANGE_MESSAGES, COLUMNS, TABLE, ChangeMessage, Refused, Truncation

KINDS = {"c": ("-U", "+I"), "u": ("-U", "+U"), "d": ("-D", "+U")}
KNOWN = {TABLE: TableSchema(COLUMNS, ())}


def settings_of(message: ChangeMessage) -> ParserSettings:
    options: dict[str, FormatOptions] = {
        "debezium-json": DebeziumInferenceOptions(schema_include=message.has_schema),
        "canal-json": CanalInferenceOptions(),
    }
    return ParserSettings(message.format, options.get(message.format, FormatOptions()))


def parse(
    settings: ParserSettings, payloads: list[bytes | None], tables: dict[str, TableSchema]
) -> tuple[list[tuple[str, int, str | None]], TaskReport]:
    count = len(payloads)
    batch = pa.record_batch(
        {
            "topic": pa.array(["t"] * count),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "timestamp": pa.nulls(count, pa.timestamp("us", "UTC")),
            "key": pa.nulls(count, pa.binary()),
            "value": pa.array(payloads, pa.binary()),
        }
    )
    *changes, last = ChangeParser(settings, tables).parse(iter([batch]))
    rows = [
        (kind, int(row["id"]), row["v"])
        for change in changes
        for each in change.to_pylist()
        for kind, name in zip(KINDS[each["operation"]], ("before", "after"), strict=True)
        if each[name] is not None
        for row in (json.loads(each[name]),)
    ]
    return rows, read_report(last.column("report")[0].as_py())


@pytest.mark.parametrize("tables", [KNOWN, {}], ids=["known", "new"])
@pytest.mark.parametrize("message", CHANGE_MESSAGES, ids=lambda message: message.name)
def test_a_message_changes_rows_is_skipped_and_counted_or_refused(
    message: ChangeMessage, tables: dict[str, TableSchema]
) -> None:
    settings = settings_of(message)
    if isinstance(message.result, Refused):
        with pytest.raises(MessageError) as error:
            parse(settings, [message.payload], tables)
        assert message.result.text in str(error.value)
        return
    rows, report = parse(settings, [message.payload], tables)
    if isinstance(message.result, SkipReason):
        assert (rows, report.skipped) == ([], Counter([message.result]))
    elif isinstance(message.result, Truncation):
        assert (rows, [place.offset for place in report.tables[TABLE].truncations]) == ([], [0])
    else:
        assert (tuple(rows), report.skipped) == (message.result, Counter())


def test_skipped_messages_are_counted_by_reason() -> None:
    beat, begin = b'{"ts_ms":1}', b'{"status":"BEGIN","id":"1","event_count":null,"data_collections":null}'
    ignoring = ParserSettings("debezium-json", DebeziumInferenceOptions(ignore_parse_errors=True))
    _, report = parse(ignoring, [beat, None, begin, beat, b"{"], {})
    assert describe_skipped(report.skipped) == (
        "2 heartbeats, 1 ignored malformed message, 1 tombstone, 1 transaction marker"
    )
