from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.errors import FencedError, LedgerError
from millrace.sink.committer.ledger import QUERY_LIVENESS_S, Ledger, LedgerEntry, WriteDecision, decide

NOW = 10_000.0

entries = st.builds(
    LedgerEntry,
    st.sampled_from(["a", "b", "c"]) | st.text(max_size=40),
    *[st.integers(0, 2**40) for _ in range(3)],
    run=st.text(max_size=36),
    write=st.text(max_size=36),
    began_ms=st.integers(0, 2**42),
)


def registered() -> LedgerEntry:
    return LedgerEntry("me", 6, 0, int(NOW - 100))


def not_registered() -> None:
    return None


def ledger(*written: tuple[str, int, int]) -> Ledger:
    return Ledger(tuple(LedgerEntry(query, batch, 5, at) for query, batch, at in written))


@given(st.lists(entries, max_size=6))
def test_a_ledger_is_read_as_it_was_written(found: list[LedgerEntry]) -> None:
    assert Ledger.parse(Ledger(tuple(found)).to_text()) == Ledger(tuple(found))


@given(st.lists(entries, min_size=1, max_size=30))
def test_a_ledger_knows_the_newest_of_each_query_and_stays_small(found: list[LedgerEntry]) -> None:
    merged = Ledger()
    for entry in found:
        merged = merged.with_entry(entry)
    assert merged.entries[0] == found[-1]
    assert len({entry.query for entry in merged.entries}) == len(merged.entries) <= 8
    assert all(merged.entry(entry.query) == entry for entry in merged.entries)
    largest = LedgerEntry("q" * 36, 2**40, 2**40, 2**34, "r" * 36, "w" * 36, 2**42)
    assert len(Ledger((largest,) * 8).to_text()) < 4096


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"v":2,"written":[]}', '{"v":1,"written":[["q"]]}', "hello"])
def test_what_is_no_ledger_is_an_error(text: str) -> None:
    with pytest.raises(LedgerError, match="which is not a ledger of this version of millrace"):
        Ledger.parse(text)


@pytest.mark.parametrize(
    ("found", "batch", "decision"),
    [
        (None, 0, WriteDecision.WRITE),
        (None, 7, WriteDecision.WRITE),
        (ledger(("me", 6, 0)), 7, WriteDecision.WRITE),
        (ledger(("me", 7, 0)), 7, WriteDecision.SKIP),
        (ledger(("other", 9, 9_999)), 0, WriteDecision.WRITE_AS_NEW_QUERY),
        (ledger(("other", 9, 9_999)), 7, WriteDecision.WRITE_AS_NEW_QUERY),
        (ledger(("other", 9, int(NOW - QUERY_LIVENESS_S)), ("me", 7, 0)), 7, WriteDecision.SKIP),
        (ledger(("other", 9, int(NOW - QUERY_LIVENESS_S)), ("me", 7, 0)), 8, WriteDecision.WRITE),
    ],
)
def test_decisions(found: Ledger | None, batch: int, decision: WriteDecision) -> None:
    assert decide(found, "me", batch, NOW, registered) is decision


def test_a_query_that_begins_need_not_be_registered() -> None:
    assert decide(None, "me", 0, NOW, not_registered) is WriteDecision.WRITE


def test_a_registered_micro_batch_is_written_also_by_tasks_whose_ledgers_are_forgotten() -> None:
    assert decide(None, "me", 6, NOW, registered) is WriteDecision.SKIP
    with pytest.raises(FencedError, match="micro-batch 5 is out of date: micro-batch 6 of its query is written"):
        decide(None, "me", 5, NOW, registered)


@pytest.mark.parametrize("age", [0, 99, 101, 1_000])
def test_what_was_written_after_an_old_registration_may_be_forgotten(age: int) -> None:
    def registration() -> LedgerEntry:
        return LedgerEntry("me", 6, 0, int(NOW - age))

    if age < 100:
        assert decide(None, "me", 7, NOW, registration, 112.0) is WriteDecision.WRITE
        return
    with pytest.raises(LedgerError, match=r"but Kafka heard of the query .* days ago, and what tasks have written si"):
        decide(None, "me", 7, NOW, registration, 112.0)


@pytest.mark.parametrize("registered_at", [None, NOW - 1_000, 0])
def test_a_micro_batch_that_is_younger_than_ledgers_live_is_in_no_doubt(registered_at: float | None) -> None:
    def registration() -> LedgerEntry | None:
        return None if registered_at is None else LedgerEntry("me", 6, 0, int(registered_at))

    if registered_at is None:
        # Perhaps the prefix was changed, so that its ledgers are elsewhere
        with pytest.raises(LedgerError, match="Kafka knows of none before"):
            decide(None, "me", 7, NOW, registration, 112.0, NOW - 99)
        return
    assert decide(None, "me", 7, NOW, registration, 112.0, NOW - 99) is WriteDecision.WRITE
    with pytest.raises(LedgerError, match=r"it was planned 0\.0 days ago, and what tasks have written of it may be f"):
        decide(None, "me", 7, NOW, registration, 112.0, NOW - 101)


@pytest.mark.parametrize("found", [None, ledger(("other", 9, 9_999))])
def test_a_first_micro_batch_that_is_repeated_after_its_ledgers_is_in_doubt(found: Ledger | None) -> None:
    with pytest.raises(LedgerError, match=r"this is micro-batch 0 of its query, but it was planned 0\.0 days ago"):
        decide(found, "me", 0, NOW, not_registered, 112.0, NOW - 101)
    with pytest.raises(FencedError, match="micro-batch 0 is out of date"):
        decide(found, "me", 0, NOW, registered, 112.0, NOW - 101)


@pytest.mark.parametrize("found", [None, ledger(("other", 9, 9_999))])
def test_what_brokers_have_forgotten_is_not_guessed(found: Ledger | None) -> None:
    with pytest.raises(LedgerError, match=r"this is micro-batch 7 .*'offsets.retention.minutes'.*if-in-doubt"):
        decide(found, "me", 7, NOW, not_registered)


def test_an_attempt_of_yesterday_is_told_so() -> None:
    with pytest.raises(FencedError, match="write micro-batch 6 is out of date: micro-batch 7 of its query is written"):
        decide(ledger(("me", 7, 0)), "me", 6, NOW, registered)


@pytest.mark.parametrize("batch", [7, 8])
def test_another_query_that_is_running_is_named(batch: int) -> None:
    with pytest.raises(FencedError, match=r"query other has written with the same .* 1 s ago, while query me is runni"):
        decide(ledger(("other", 3, 9_999), ("me", 7, 9_000)), "me", batch, NOW, registered)
