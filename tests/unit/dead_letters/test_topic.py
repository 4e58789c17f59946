from __future__ import annotations

from collections.abc import Callable, Sequence

from millrace.contracts import DeadLetter, Origin, dead_letter_headers, split_dead_letter_headers
from millrace.testing import DeadLetterCollectorSuite
from millrace.testing.dead_letter_collector import ProducedRecord, RecordList
from millrace_dead_letters.topic import TopicCollector, TopicOptions

Bad = Callable[..., list[DeadLetter]]


class TestSuite(DeadLetterCollectorSuite):
    def make_collector(self) -> TopicCollector:
        return TopicCollector(TopicOptions("dead"))

    def collected(self, records: Sequence[ProducedRecord]) -> Sequence[ProducedRecord]:
        return records


def test_a_dead_letter_has_the_messages_headers_and_its_place(bad: Bad) -> None:
    own = [("a", b"1"), ("a", None), ("b", b"\xff")]
    (one,) = bad({"value": b"v", "headers": own, "timestamp": 1_500})
    assert dead_letter_headers(one) == [
        *own,
        ("millrace.error.topic", b"orders"),
        ("millrace.error.partition", b"3"),
        ("millrace.error.offset", b"100"),
        ("millrace.error.timestamp", b"1500"),
        ("millrace.error.part", b"value"),
        ("millrace.error.format", b"json"),
        ("millrace.error.reason", b"no good"),
    ]


def test_a_message_without_a_timestamp_has_none(bad: Bad) -> None:
    (one,) = bad({"part": "key", "reason": "bäd"})
    assert dead_letter_headers(one)[3:] == [
        ("millrace.error.part", b"key"),
        ("millrace.error.format", b"json"),
        ("millrace.error.reason", "bäd".encode()),
    ]


def test_keys_and_values_keep_their_bytes(bad: Bad) -> None:
    producer = RecordList({"dead": "topic"})
    TopicCollector(TopicOptions("dead")).collect(bad({"key": b"\xff", "value": None}, {"key": None}), producer)
    assert [(each.topic, each.key, each.value) for each in producer.records] == [
        ("dead", b"\xff", None),
        ("dead", None, b""),
    ]


def test_the_headers_of_a_dead_letter_tell_its_message_and_its_place(bad: Bad) -> None:
    own = [("a", b"1"), ("millrace.error.timestamp", b"7"), ("millrace.error.other", None)]
    (one,) = bad({"headers": own})
    origin = Origin("orders", 3, 100, None, "value", "json", "no good")
    assert split_dead_letter_headers(dead_letter_headers(one)) == (own, origin)


def test_a_letter_of_a_letter_is_still_a_letter(bad: Bad) -> None:
    (first,) = bad({"timestamp": 1, "reason": "bäd"})
    (second,) = bad({"topic": "dead", "offset": 5, "headers": dead_letter_headers(first)})
    headers, origin = split_dead_letter_headers(dead_letter_headers(second))
    assert origin is not None
    assert (origin.topic, headers) == ("dead", dead_letter_headers(first))


def test_other_messages_are_no_dead_letters() -> None:
    for headers in ([], [("a", b"1")], [("millrace.error.topic", b"t")], [("millrace.error.topic", None)]):
        assert split_dead_letter_headers(headers) == (headers, None)
