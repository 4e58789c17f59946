"""The conformance suite fails for dead letter collectors that break the contract."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from millrace.contracts import DeadLetter, DeadLetterCollector, RecordProducer
from millrace.testing import DeadLetterCollectorSuite

KEPT: list[object] = []


class Good(DeadLetterCollector):
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        KEPT.extend(letters)


class TextsOnly(Good):
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        KEPT.extend((letter.value or b"").decode() for letter in letters)


class LastCall(Good):
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        self.last = letters

    def finish(self) -> None:
        KEPT.extend(self.last)


class Hidden(Good):
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        super().collect(letters, producer)
        producer.produce("secret", key=None, value=None)


class Sorting(Good):
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        super().collect(letters, producer)
        letters.reverse()


class Global(Good):
    waiting: list[DeadLetter] = []  # noqa: RUF012

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        self.waiting[:] = [*self.waiting, *letters]

    def finish(self) -> None:
        KEPT[:] = self.waiting
        self.waiting.clear()


def failures(collector: type[DeadLetterCollector]) -> set[str]:
    """The tests of the suite that a collector fails."""

    class Suite(DeadLetterCollectorSuite):
        def make_collector(self) -> DeadLetterCollector:
            return collector()

        def collected(self, records: Sequence[object]) -> list[object]:
            return KEPT

    failed = set()
    for name in filter(lambda name: name.startswith("test_"), dir(Suite)):
        KEPT.clear()
        try:
            getattr(Suite(), name)()
        except Exception:
            failed.add(name)
    return failed


def test_a_correct_collector_passes() -> None:
    assert failures(Good) == set()


@pytest.mark.parametrize(
    ("collector", "test"),
    [
        (TextsOnly, "test_each_message_is_collected"),
        (LastCall, "test_messages_are_collected_one_by_one_too"),
        (LastCall, "test_a_task_without_malformed_messages_collects_none"),
        (Hidden, "test_each_message_is_collected"),
        (Sorting, "test_messages_are_left_as_they_were"),
        (Global, "test_tasks_do_not_disturb_each_other"),
    ],
)
def test_a_fault_is_found(collector: type[DeadLetterCollector], test: str) -> None:
    assert test in failures(collector)
