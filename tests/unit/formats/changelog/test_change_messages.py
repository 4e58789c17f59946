"""The messages of all dialects, read by formats: at once, and one by one."""

from __future__ import annotations

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


def format_of(message: ChangeMessage) -> ChangelogFormat:
    if message.format == DebeziumJsonFormat.name:
        return DebeziumJsonFormat(DebeziumOptions(schema_include=message.has_schema))
    return FORMATS[message.format]()


def decode(message: ChangeMessage, schema: pa.Schema) -> Decoded:
    return format_of(message).decoder(schema).decode(Payloads([message.payload]))


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
