from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import HEADERS, HeaderFilter, HeaderFilterOptions
from millrace.records.messages import Messages, headers_column
from millrace.source.reader.header_filter import filter_by_headers

Make = Callable[..., Messages]


class WithAny(HeaderFilter):
    """A filter that keeps records that have a header."""

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        return pc.greater(pc.list_value_length(headers), 0)


def test_headers_keep_their_order_and_repeats(messages: Make) -> None:
    headers = headers_column(messages({"headers": [("b", b"1"), ("a", None), ("b", b"2")]}))
    assert headers.type == HEADERS
    assert headers.to_pylist() == [
        [{"key": "b", "value": b"1"}, {"key": "a", "value": None}, {"key": "b", "value": b"2"}]
    ]


def test_a_message_without_headers_has_an_empty_list(messages: Make) -> None:
    assert headers_column(messages({}, {"headers": []})).to_pylist() == [[], []]


def test_no_messages_have_no_headers(messages: Make) -> None:
    assert headers_column(messages()).type == HEADERS


def test_without_a_filter_the_messages_are_kept_as_they_are(messages: Make) -> None:
    fetched = messages({}, {})
    assert filter_by_headers(None, fetched) is fetched


def test_a_filter_keeps_what_its_mask_says_in_order(messages: Make) -> None:
    fetched = messages({"headers": [("a", b"1")]}, {}, {"headers": [("a", b"2")]})
    kept = filter_by_headers(WithAny(HeaderFilterOptions(expression="")), fetched)
    assert kept.partition == fetched.partition
    assert [message.offset() for message in kept.items] == [100, 102]


def test_a_filter_may_keep_none(messages: Make) -> None:
    assert filter_by_headers(WithAny(HeaderFilterOptions(expression="")), messages({}, {})).items == []
