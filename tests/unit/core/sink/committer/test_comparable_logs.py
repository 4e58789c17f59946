from __future__ import annotations

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import LedgerError
from millrace.sink.committer.comparable_logs import check_nothing_is_deleted, check_topic_is_comparable

A0, A1, A2 = (TopicPartition("a", number) for number in range(3))


KEEPING = {"message.timestamp.type": "CreateTime", "cleanup.policy": "delete"}


def test_a_topic_that_keeps_records_and_their_times_is_comparable() -> None:
    check_topic_is_comparable("a", KEEPING)


@pytest.mark.parametrize("settings", [{}, {"cleanup.policy": "delete"}, {"message.timestamp.type": "CreateTime"}])
def test_a_topic_whose_settings_cannot_be_seen_is_not(settings: dict[str, str]) -> None:
    with pytest.raises(LedgerError, match=r"of topic 'a' keep records .* needs the operation DESCRIBE_CONFIGS on the"):
        check_topic_is_comparable("a", settings)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"message.timestamp.type": "LogAppendTime"}, "which the brokers of topic 'a' replace by their own"),
        ({"cleanup.policy": "compact"}, "but topic 'a' is compacted"),
        ({"cleanup.policy": "compact,delete"}, "but topic 'a' is compacted"),
    ],
)
def test_a_topic_that_changes_times_or_drops_records_is_not(settings: dict[str, str], reason: str) -> None:
    with pytest.raises(LedgerError, match=reason):
        check_topic_is_comparable("a", {**KEEPING, **settings})


def test_a_log_that_begins_with_the_micro_batch_may_have_lost_some_of_it() -> None:
    # From its very beginning; with records from before; with nothing left
    check_nothing_is_deleted({A0: 0, A1: 3}, {A0: 0, A1: 7}, 1)
    with pytest.raises(LedgerError, match="but a-1, a-2 have none from before that: retention or a request may have"):
        check_nothing_is_deleted({A0: 0, A1: 3, A2: 9}, {A0: 0, A1: 3, A2: 9}, 1)
