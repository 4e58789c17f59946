from __future__ import annotations

from collections.abc import Callable

import pytest

from millrace.records.messages import Messages
from millrace.records.trace_context import EXPECTED, is_traceparent, sampled_traceparents, traceparent_of

Make = Callable[..., Messages]
UNSAMPLED = EXPECTED[:-2] + "00"


@pytest.mark.parametrize("text", [EXPECTED, UNSAMPLED, "01" + EXPECTED[2:], "cc" + EXPECTED[2:] + "-more"])
def test_values_of_the_specification_are_accepted(text: str) -> None:
    assert is_traceparent(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "traceparent",
        EXPECTED[:-1],
        EXPECTED.upper(),
        EXPECTED + "-more",
        EXPECTED + "\n",
        "ff" + EXPECTED[2:],
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        "cc" + EXPECTED[2:] + "more",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not is_traceparent(text)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, None),
        ([("a", b"1")], None),
        ([("traceparent", EXPECTED.encode()), ("a", None)], EXPECTED),
        ([("traceparent", EXPECTED.encode()), ("traceparent", UNSAMPLED.encode())], UNSAMPLED),
        ([("traceparent", EXPECTED.encode()), ("traceparent", None)], None),
        ([("traceparent", b"\xff")], None),
    ],
)
def test_the_last_header_of_a_message_counts_where_it_is_valid(
    messages: Make, headers: list[tuple[str, bytes | None]] | None, expected: str | None
) -> None:
    (message,) = messages({"headers": headers}).items
    assert traceparent_of(message) == expected


def test_traces_that_nobody_records_are_left_out(messages: Make) -> None:
    texts = [EXPECTED, UNSAMPLED, EXPECTED[:-2] + "03"]
    some = messages({}, *({"headers": [("traceparent", text.encode())]} for text in texts))
    assert list(sampled_traceparents(some.items)) == [texts[0], texts[2]]
