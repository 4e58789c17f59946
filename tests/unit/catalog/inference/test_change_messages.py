"""The messages of all dialects, read by inference: for columns, and as changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace_catalog.inference import (
    CanalReader,
    DebeziumInferenceOptions,
    DebeziumReader,
    MaxwellReader,
    OggReader,
)
from millrace_catalog.inference.observation import TableChange
from support.change_messages import CHANGE_MESSAGES, TABLE, ChangeMessage, Refused, Truncation

READERS = {reader("").format: reader for reader in (CanalReader, MaxwellReader, OggReader)}
KINDS = {"c": ("-U", "+I"), "u": ("-U", "+U"), "d": ("-D", "+U")}


def reader_of(message: ChangeMessage) -> DebeziumReader | CanalReader | MaxwellReader | OggReader:
    if message.format == DebeziumReader.format:
        return DebeziumReader("topic", DebeziumInferenceOptions(schema_include=message.has_schema))
    return READERS[message.format]("topic")


def rows_of(change: TableChange) -> Iterator[tuple[str, int, str | None]]:
    for pair in change.rows:
        for kind, row in zip(KINDS[change.operation], pair, strict=True):
            if row is not None:
                yield kind, int(row["id"]), row["v"]


@pytest.mark.parametrize("message", CHANGE_MESSAGES, ids=lambda message: message.name)
def test_a_message_is_its_change_is_skipped_or_refused(message: ChangeMessage) -> None:
    reader = reader_of(message)
    result = message.result.upsert if isinstance(message.result, Refused) else None
    if isinstance(message.result, Refused) and result is None:
        with pytest.raises(MalformedMessageError) as error:
            reader.parse(message.payload)
        assert message.result.text in str(error.value)
        return
    change = reader.parse(message.payload)
    if isinstance(message.result, SkipReason):
        assert change is message.result
        return
    assert isinstance(change, TableChange)
    assert change.table == TABLE
    if isinstance(message.result, Truncation):
        assert (change.operation, change.rows) == ("t", ())
    else:
        assert tuple(rows_of(change)) == (result or message.result)
        assert change.lacks_old_row == (result is not None)
        assert change.kept_columns == (message.result.kept if isinstance(message.result, Refused) else ())


@pytest.mark.parametrize("message", CHANGE_MESSAGES, ids=lambda message: message.name)
def test_a_message_tells_columns_if_it_has_rows(message: ChangeMessage) -> None:
    reader = reader_of(message)
    if isinstance(message.result, Refused) and not message.result.has_columns:
        with pytest.raises(MalformedMessageError):
            reader.read(message.payload)
        return
    observed = reader.read(message.payload)
    if isinstance(message.result, SkipReason | Truncation):
        assert observed is None
    else:
        assert observed is not None
        assert list(observed.columns) == ["id", "v"]
