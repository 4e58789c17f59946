"""Reading and writing GoldenGate's messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from millrace_formats.changelog.ogg_json import OggJsonFormat
from millrace_formats.changelog.options import ChangeOptions
from unit.formats.changelog.reading import SCHEMA, changes, decode, metadata_of, reason

OGG = OggJsonFormat()
A, B = {"id": 1, "name": "a", "weight": 0.5}, {"id": 1, "name": "b", "weight": 2}
ROW_A, ROW_B = (1, "a", 0.5), (1, "b", 2.0)


def change(op_type: str, **more: Any) -> dict[str, Any]:
    return {"table": "SHOP.ORDERS", "op_type": op_type, **more}


def test_insertions_updates_and_deletions() -> None:
    messages = [change("I", after=A), change("U", before=A, after=B), change("D", before=B, after=None), None]
    assert changes(OGG, *messages) == [("+I", *ROW_A), ("-U", *ROW_A), ("+U", *ROW_B), ("-D", *ROW_B)]


def test_an_update_without_its_old_row_is_an_error_that_says_what_to_do() -> None:
    assert reason(OGG, change("U", after=A)).startswith("field before: it is null, though the operation is 'U'")
    assert "GETUPDATEBEFORES" in reason(OGG, change("D", after=A))
    assert reason(OGG, change("D", before={})).startswith("field before: it has no columns, though the operation is")


def test_truncations_are_errors_as_in_the_reference() -> None:
    assert reason(OGG, change("T")).startswith("field op_type: 'T' is a truncation, which rows of changes cannot say")


def test_an_old_row_of_nulls_is_written_with_its_names() -> None:
    rows = pa.record_batch([[None, 1], [None, None], [None, None]], schema=SCHEMA)
    short = OggJsonFormat(ChangeOptions(ignore_null_fields=True))
    encoded = short.encoder(SCHEMA).encode(rows, pa.array(["-D", "-D"]))
    assert encoded.to_list() == [
        b'{"before":{"id":null,"name":null,"weight":null},"op_type":"D"}',
        b'{"before":{"id":1},"op_type":"D"}',
    ]


UTC_TIME = datetime(2020, 5, 13, 15, 40, 6, 123_456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-05-13 15:40:06.123456", UTC_TIME),
        ("2020-05-13T15:40:06.123456", UTC_TIME),
        ("2020-05-13T15:40:06.123456Z", UTC_TIME),
        ("2020-05-13 17:40:06.123456+02:00", UTC_TIME),
        ("2020-05-13T15:40", UTC_TIME.replace(second=0, microsecond=0)),
        (None, None),
    ],
)
def test_metadata_has_its_times_as_text_of_either_form(text: str | None, expected: datetime | None) -> None:
    message = change("I", after=A, primary_keys=["id"], op_ts=text, current_ts=text)
    assert metadata_of(OGG, message) == {
        "table": "SHOP.ORDERS",
        "primary-keys": ["id"],
        "ingestion-timestamp": expected,
        "event-timestamp": expected,
    }


def test_a_time_that_is_none_is_an_error() -> None:
    (error,) = decode(OGG, change("I", after=A, op_ts="noon"), metadata=["event-timestamp"]).errors
    assert error.reason == 'field op_ts: "noon" is not a time: expected yyyy-MM-dd HH:mm:ss[.fraction]'


def test_each_half_of_an_update_is_a_message_of_its_own() -> None:
    rows = pa.record_batch([[1, 2], ["a", None], [0.5, 1]], schema=SCHEMA)
    encoded = OGG.encoder(SCHEMA).encode(rows, pa.array(["+U", "-U"]))
    assert list(encoded.to_list()) == [
        b'{"before":null,"after":{"id":1,"name":"a","weight":0.5},"op_type":"I"}',
        b'{"before":{"id":2,"name":null,"weight":1.0},"after":null,"op_type":"D"}',
    ]
