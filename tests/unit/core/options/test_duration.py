from __future__ import annotations

import pytest

from millrace.options.duration import parse_duration_ms


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5 min", 300_000),
        ("5min", 300_000),
        (" 5  MIN ", 300_000),
        ("30 s", 30_000),
        ("1 second", 1_000),
        ("2 h", 7_200_000),
        ("1 d", 86_400_000),
        ("500 ms", 500),
        ("500", 500),
        ("0", 0),
        ("-1", -1),
        ("-5 s", -5_000),
    ],
)
def test_a_duration_is_milliseconds(text: str, milliseconds: int) -> None:
    assert parse_duration_ms(text) == milliseconds


@pytest.mark.parametrize("text", ["", " ", "s", "1.5 s", "5 min 3 s", "5 months", "--1", "1e3", "0x10", "five s"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a duration such as '5 min', '30 s' or '500 ms'$"):
        parse_duration_ms(text)
