"""The messages of all dialects, read by formats: at once, and one by one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.change_dialects import SkipReason
from millrace.contracts import ChangelogFormat, Decoded, Payloads
from millrace_formats.changelog.canal_json import CanalJsonFormat
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions
from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat
from millrace_formats.changelog.ogg_json import OggJsonFormat
from support.change_messages import CHANGE_MESSAGES, ChangeMessage, Refused, Truncation

FORMATS = {format_.name: format_ for format_ in (CanalJsonFormat, MaxwellJsonFormat, OggJsonFormat)}
FAST = pa.schema([("id", pa.int64()), ("v", pa.string())])
EXACT = pa.schema([*FAST, ("m", pa.map_(pa.int32(), pa.string()))])
"""Columns that msgspec cannot read, so that all messages go to the exact reader."""


def format_of(message: ChangeMessage, **options: Any) -> ChangelogFormat:
    if message.format == DebeziumJsonFormat.name:
        return DebeziumJsonFormat(DebeziumOptions(schema_include=message.has_schema, **options))
    format_ = FORMATS[message.format]
    return format_(format_.Options(**options))


def decode(message: ChangeMessage, schema: pa.Schema, *others: bytes | None, **options: Any) -> Decoded:
    return format_of(message, **options).decoder(schema).decode(Payloads([message.payload, *others]))


@pytest.mark.parametrize("schema", [FAST, EXACT], ids=["fast", "exact"])
@pytest.mark.parametrize("message", CHANGE_MESSAGES, ids=lambda message: message.name)
def test_a_message_gives_its_rows_is_skipped_or_refused(message: ChangeMessage, schema: pa.Schema) -> None:
    decoded = decode(message, schema)
    assert decoded.row_kinds is not None
    rows = zip(
        *(column.to_pylist() for column in (decoded.row_kinds, decoded.rows["id"], decoded.rows["v"])), strict=True
    )
    errors = [error.reason for error in decoded.errors]
    if isinstance(message.result, Refused | Truncation):
        assert not list(rows)
        assert len(errors) == 1
        assert (message.result.text if isinstance(message.result, Refused) else "is a truncation") in errors[0]
    else:
        assert errors == []
        assert tuple(rows) == (() if isinstance(message.result, SkipReason) else message.result)


UPDATES = [each for each in CHANGE_MESSAGES if isinstance(each.result, Refused) and each.result.upsert]


@pytest.mark.parametrize("schema", [FAST, EXACT], ids=["fast", "exact"])
@pytest.mark.parametrize("message", UPDATES, ids=lambda message: message.name)
def test_an_update_without_its_old_row_is_its_new_row_where_the_option_says_so(
    message: ChangeMessage, schema: pa.Schema
) -> None:
    assert isinstance(message.result, Refused)
    (error,) = decode(message, schema).errors
    decoded = decode(message, schema, None, b"{", message.payload, updates_without_old_row="upsert")
    if message.result.kept:
        # Nothing has the value, which no read may invent
        assert [error.index for error in decoded.errors] == [0, 2, 3]
        return
    assert f"'{message.format}.updates-without-old-row' = 'upsert'" in error.reason
    assert [error.index for error in decoded.errors] == [2]
    assert decoded.row_kinds is not None
    assert decoded.row_kinds.to_pylist() == ["+U", "+U"]
    assert decoded.rows.select(["id", "v"]).to_pylist() == [{"id": 1, "v": "b"}] * 2
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 3]


def test_updates_with_and_without_their_old_rows_stay_in_their_order() -> None:
    messages = [
        b'{"op":"u","before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"}}',
        b'{"op":"u","before":null,"after":{"id":2,"v":"c"}}',
        b'{"op":"d","before":null,"after":null}',
        b'{"op":"d","before":{"id":1,"v":"b"},"after":null}',
    ]
    decoder = DebeziumJsonFormat(DebeziumOptions(updates_without_old_row="upsert")).decoder(FAST)
    decoded = decoder.decode(Payloads(messages))
    assert decoded.row_kinds is not None
    assert decoded.row_kinds.to_pylist() == ["-U", "+U", "+U", "-D"]
    assert decoded.rows["id"].to_pylist() == [1, 1, 2, 1]
    assert [error.index for error in decoded.errors] == [2]
