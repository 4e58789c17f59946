"""The messages of all dialects, read by pipelines: of a table that they know, and of a new one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from millrace.change_dialects import SkipReason
from millrace.contracts import SinkCapabilities
from millrace.errors import MessageError
from millrace_catalog.inference import CanalInferenceOptions, DebeziumInferenceOptions, FormatOptions
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import TaskFindings, describe_skipped, read_report
from support.cases import CASES
from support.change_messages import CHANGE_MESSAGES, COLUMNS, TABLE, ChangeMessage, Refused, Truncation

KINDS = {"c": ("-U", "+I"), "u": ("-U", "+U"), "d": ("-D", "+U")}
KNOWN = {TABLE: SourceTableSchema(COLUMNS, ())}


def settings_of(message: ChangeMessage) -> ParserSettings:
    options: dict[str, FormatOptions] = {
        "debezium-json": DebeziumInferenceOptions(schema_include=message.has_schema),
        "canal-json": CanalInferenceOptions(),
    }
    return ParserSettings(message.format, options.get(message.format, FormatOptions()))


def parse(
    settings: ParserSettings, payloads: list[bytes | None], tables: dict[str, SourceTableSchema]
) -> tuple[list[tuple[str, int, str | None]], TaskFindings]:
    *changes, last = ChangeParser(settings, tables).parse(iter([batch_of(payloads)]))
    return rows_of(changes), read_report(last.column("report")[0].as_py())


def rows_of(changes: list[pa.RecordBatch]) -> list[tuple[str, int, str | None]]:
    return [
        (kind, int(row["id"]), row["v"])
        for change in changes
        for each in change.to_pylist()
        for kind, name in zip(KINDS[each["operation"]], ("before", "after"), strict=True)
        if each[name] is not None
        for row in (json.loads(each[name]),)
    ]


def batch_of(payloads: list[bytes | None]) -> pa.RecordBatch:
    count = len(payloads)
    return pa.record_batch(
        {
            "topic": pa.array(["t"] * count),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
            "timestamp": pa.nulls(count, pa.timestamp("us", "UTC")),
            "key": pa.nulls(count, pa.binary()),
            "value": pa.array(payloads, pa.binary()),
        }
    )


@pytest.mark.parametrize("tables", [KNOWN, {}], ids=["known", "new"])
@pytest.mark.parametrize("message", CHANGE_MESSAGES, ids=lambda message: message.name)
def test_a_message_changes_rows_is_skipped_and_counted_or_refused(
    message: ChangeMessage, tables: dict[str, SourceTableSchema]
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


@pytest.mark.parametrize("tables", [KNOWN, {}], ids=["known", "new"])
@pytest.mark.parametrize(
    "message",
    [each for each in CHANGE_MESSAGES if isinstance(each.result, Refused) and each.result.upsert],
    ids=lambda message: message.name,
)
def test_an_update_without_its_old_row_is_an_upsert_where_the_sink_can(
    message: ChangeMessage, tables: dict[str, SourceTableSchema]
) -> None:
    assert isinstance(message.result, Refused)
    capabilities = SinkCapabilities(frozenset(), upserts=True, keeps_values=True)
    settings = settings_of(message).for_sink(capabilities)
    changes, _ = ChangeParser(settings, tables).parse(iter([batch_of([message.payload])]))
    assert rows_of([changes]) == list(message.result.upsert or ())
    assert changes.column("kept").to_pylist() == [list(message.result.kept) or None]
    advised = replace(settings, upserts=False, keeps_values=False, upsert_advice="Set a to b")
    with pytest.raises(MessageError, match=r"REPLICA IDENTITY FULL" if message.result.kept else r"Set a to b"):
        parse(advised, [message.payload], tables)


def test_skipped_messages_are_counted_by_reason() -> None:
    beat, begin = b'{"ts_ms":1}', b'{"status":"BEGIN","id":"1","event_count":null,"data_collections":null}'
    ignoring = ParserSettings("debezium-json", DebeziumInferenceOptions(ignore_parse_errors=True))
    _, report = parse(ignoring, [beat, None, begin, beat, b"{"], {})
    assert describe_skipped(report.skipped) == (
        "2 heartbeats, 1 ignored malformed message, 1 tombstone, 1 transaction marker"
    )


def lines_of(case: str) -> list[bytes | None]:
    return list((CASES / "pipelines" / case).read_bytes().splitlines())


@pytest.mark.cases
@pytest.mark.parametrize("case", ["03_ts_ms.jsonl", "04_delete_without_rows.jsonl"])
def test_what_was_skipped_without_a_count_is_malformed_and_counted(case: str) -> None:
    settings = ParserSettings("debezium-json", DebeziumInferenceOptions(), skips_malformed=True)
    rows, report = parse(settings, lines_of(case), {})
    assert len(rows) == (1 if "delete" in case else 0)
    assert (report.malformed, report.skipped) == (2, Counter())


@pytest.mark.cases
@pytest.mark.parametrize("is_known", [True, False])
def test_arrays_and_hstores_that_the_database_did_not_send_are_those_of_the_old_row(is_known: bool) -> None:
    columns = SourceTableSchema("id BIGINT, ints ARRAY<BIGINT>, uuids ARRAY<STRING>, h STRING", ())
    parser = ChangeParser(
        ParserSettings("debezium-json", DebeziumInferenceOptions()), {"shop.o": columns} if is_known else {}
    )
    changes, _ = parser.parse(iter([batch_of(lines_of("07_toast_arrays.jsonl"))]))
    update = changes.to_pylist()[-1]
    assert update["operation"] == "u"
    assert json.loads(update["after"]) == json.loads(update["before"])
    assert json.loads(update["after"])["ints"] == [1, 2]
