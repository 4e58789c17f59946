"""Topics without transactions, by the settings that brokers with such topics tell (KIP-1150)."""

from __future__ import annotations

import pytest

from millrace.diagnosis.cluster import diskless_findings
from millrace.errors import OptionsError
from millrace.kafka.diskless import check_transactions

CLASSIC = {"cleanup.policy": "delete", "diskless.enable": "false"}
DISKLESS = {"cleanup.policy": "delete", "diskless.enable": "true"}


def test_a_write_in_transactions_to_such_a_topic_is_refused() -> None:
    with pytest.raises(OptionsError) as error:
        check_transactions({"orders": DISKLESS, "audit": CLASSIC}, is_exactly_once=True)
    assert error.value.problems == (
        "topic 'orders' is diskless (diskless.enable = true) and takes no transactions, which "
        "'sink.delivery-guarantee' = 'exactly-once' needs: set it to 'at-least-once', or write to another topic",
    )


@pytest.mark.parametrize("settings", [CLASSIC, {"cleanup.policy": "delete"}, {}])
def test_other_topics_are_not(settings: dict[str, str]) -> None:
    check_transactions({"orders": settings}, is_exactly_once=True)
    assert list(diskless_findings("orders", settings, writes=True, transactions=True)) == []


def test_a_write_without_transactions_is_not() -> None:
    check_transactions({"orders": DISKLESS}, is_exactly_once=False)


@pytest.mark.parametrize(
    ("writes", "transactions", "level", "advice"),
    [
        (True, True, "error", "set 'sink.delivery-guarantee' to at-least-once"),
        (True, False, "warning", "write neither with exactly-once"),
        (False, False, "warning", "set 'properties.isolation.level' to read_uncommitted"),
    ],
)
def test_doctor_says_what_such_a_topic_lacks(writes: bool, transactions: bool, level: str, advice: str) -> None:
    (finding,) = diskless_findings("orders", DISKLESS, writes=writes, transactions=transactions)
    assert (finding.check, finding.target, finding.level) == ("topic", "orders", level)
    assert finding.message == ("it is diskless (diskless.enable = true): it has no transactions and is never compacted")
    assert advice in finding.remedy
