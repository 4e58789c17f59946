"""Formats, guessed from messages."""

from __future__ import annotations

import pytest

from millrace_cli.format_guess import guess_format


@pytest.mark.parametrize(
    ("values", "format_", "reason"),
    [
        ([], "raw", "no message"),
        ([None], "raw", "no message"),
        ([b'{"id": 1}', b'{"id": '], "json", "JSON"),
        ([b'{"before": null, "after": {"id": 1}, "op": "c"}'], "debezium-json", "op"),
        ([b'{"schema": {}, "payload": {"before": null, "after": {"id": 1}, "op": "c"}}'], "debezium-json", "op"),
        ([b'{"op": "c", "after": {"id": 1}}', b'{"op": "d"}'], "debezium-json", "op"),
        ([b'{"type": "INSERT", "data": [{"id": 1}]}'], "canal-json", "list"),
        ([b"\0\0\0\0\x07rest", None], "raw", "schema 7"),
        ([b"1,2,3"], "raw", "--format"),
        ([b"[1]"], "raw", "not JSON"),
    ],
)
def test_a_format_is_guessed(values: list[bytes | None], format_: str, reason: str) -> None:
    guess = guess_format(values)
    assert guess.format == format_
    assert reason in guess.reason
