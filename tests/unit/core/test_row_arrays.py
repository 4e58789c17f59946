"""Messages that are arrays of rows, split into the rows as they are written."""

from __future__ import annotations

import pytest

from millrace.row_arrays import rows_in


@pytest.mark.parametrize(
    ("payload", "rows"),
    [
        (b'[{"a":1},{"a":2}]', [b'{"a":1}', b'{"a":2}']),
        (b' \r\n[ {"a" : 1.50} ,\n null, [1] ]\t', [b'{"a" : 1.50}', b"null", b"[1]"]),
        (b'\xef\xbb\xbf[{"a":1}]', [b'{"a":1}']),
        (b"[]", []),
        (b" [ ] ", []),
        # Only lenient readers accept control characters in texts, and surrogates by themselves
        (b'[{"a":"x\ty"} , {"a":"]"}]', [b'{"a":"x\ty"}', b'{"a":"]"}']),
        (b'[{"a":"\\ud800"}, {"b":' + b"9" * 5_000 + b"}]", [b'{"a":"\\ud800"}', b'{"b":' + b"9" * 5_000 + b"}"]),
        ('[{"a":"ü\t"}]'.encode(), ['{"a":"ü\t"}'.encode()]),
    ],
)
def test_an_array_has_the_rows_as_they_are_written(payload: bytes, rows: list[bytes]) -> None:
    assert [row and row.strip() for row in rows_in(payload)] == rows


@pytest.mark.parametrize(
    "payload",
    [
        None,
        b"",
        b" ",
        b'{"a":[1]}',
        b"7",
        b"[",
        b'[{"a":1}',
        b'[{"a":1},]',
        b'[{"a":1} {"a":2}]',
        b'[{"a":1}] x',
        b'[{"a":"\xff\t"}]',
        b'[{"a":"\t"},]',
        b"[" * 10_000 + b"]" * 10_000,
    ],
    ids=lambda payload: repr(payload[:20] if payload else payload),
)
def test_any_other_message_stays_as_it_is(payload: bytes | None) -> None:
    assert list(rows_in(payload)) == [payload]
