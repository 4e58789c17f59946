from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.errors import FencedError, LedgerError
from millrace.sink.committer.ledger import IS_LIVE_S, Entry, Ledger, Verdict, judge

NOW = 10_000.0

entries = st.builds(
    Entry, st.sampled_from(["a", "b", "c"]) | st.text(max_size=40), *[st.integers(0, 2**40) for _ in range(3)]
)


def knows() -> bool:
    return True


def knows_nothing() -> bool:
    return False


def ledger(*written: tuple[str, int, int]) -> Ledger:
    return Ledger(tuple(Entry(query, batch, 5, at) for query, batch, at in written))


@given(st.lists(entries, max_size=6))
def test_a_ledger_is_read_as_it_was_written(found: list[Entry]) -> None:
    assert Ledger.parse(Ledger(tuple(found)).to_text()) == Ledger(tuple(found))


@given(st.lists(entries, min_size=1, max_size=30))
def test_a_ledger_knows_the_newest_of_each_query_and_stays_small(found: list[Entry]) -> None:
    kept = Ledger()
    for entry in found:
        kept = kept.with_entry(entry)
    assert kept.entries[0] == found[-1]
    assert len({entry.query for entry in kept.entries}) == len(kept.entries) <= 8
    assert all(kept.of(entry.query) == entry for entry in kept.entries)
    assert len(Ledger(tuple(Entry("q" * 36, 2**40, 2**40, 2**34) for _ in range(8))).to_text()) < 4096


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"v":2,"written":[]}', '{"v":1,"written":[["q"]]}', "hello"])
def test_what_is_no_ledger_is_an_error(text: str) -> None:
    with pytest.raises(LedgerError, match="which is no ledger of this version of millrace"):
        Ledger.parse(text)


@pytest.mark.parametrize(
    ("found", "batch", "verdict"),
    [
        (None, 0, Verdict.WRITE),
        (None, 7, Verdict.WRITE),
        (ledger(("me", 6, 0)), 7, Verdict.WRITE),
        (ledger(("me", 7, 0)), 7, Verdict.SKIP),
        (ledger(("other", 9, 9_999)), 0, Verdict.WRITE_ANEW),
        (ledger(("other", 9, 9_999)), 7, Verdict.WRITE_ANEW),
        (ledger(("other", 9, int(NOW - IS_LIVE_S)), ("me", 7, 0)), 7, Verdict.SKIP),
        (ledger(("other", 9, int(NOW - IS_LIVE_S)), ("me", 7, 0)), 8, Verdict.WRITE),
    ],
)
def test_verdicts(found: Ledger | None, batch: int, verdict: Verdict) -> None:
    assert judge(found, "me", batch, NOW, knows) is verdict


def test_a_query_that_begins_need_not_be_known() -> None:
    assert judge(None, "me", 0, NOW, knows_nothing) is Verdict.WRITE


@pytest.mark.parametrize("found", [None, ledger(("other", 9, 9_999))])
def test_what_brokers_have_forgotten_is_not_guessed(found: Ledger | None) -> None:
    with pytest.raises(LedgerError, match=r"this is micro-batch 7 .*'offsets.retention.minutes'.*if-in-doubt"):
        judge(found, "me", 7, NOW, knows_nothing)


def test_an_attempt_of_yesterday_is_told_so() -> None:
    with pytest.raises(FencedError, match="write micro-batch 6 is out of date: micro-batch 7 of its query is written"):
        judge(ledger(("me", 7, 0)), "me", 6, NOW, knows)


@pytest.mark.parametrize("batch", [7, 8])
def test_another_query_that_is_running_is_named(batch: int) -> None:
    with pytest.raises(FencedError, match=r"query other has written with the same .* 1 s ago, while query me is runni"):
        judge(ledger(("other", 3, 9_999), ("me", 7, 9_000)), "me", batch, NOW, knows)
