from __future__ import annotations

import datetime as dt

import pytest

from millrace.contracts.jobs import RunningJobs
from millrace.errors import OptionsError
from millrace_ui.page_data import PageData
from millrace_ui.query_history import Histories
from millrace_ui.topics.cells import MAX_TEXT, hidden_reason, plain
from millrace_ui.topics.tails import MAX_TAILS, Tails


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (2**60, "1152921504606846976"),
        (float("nan"), "nan"),
        (b"caf\xc3\xa9\xff", "café\\xff"),
        (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "2026-01-02T00:00:00+00:00"),
        ({"a": [b"x", dt.date(2026, 1, 2)]}, {"a": ["x", "2026-01-02"]}),
        ([("header", b"1")], [["header", "1"]]),
    ],
)
def test_values_are_plain(value: object, shown: object) -> None:
    assert plain(value) == shown


def test_long_texts_are_cut() -> None:
    assert plain("x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT + "…"
    assert plain(b"x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT + "…"


def test_reasons_hide_what_may_be_a_messages() -> None:
    assert hidden_reason("expected a number, got 'hush' at 17") == "expected a number, got … at …"


class _Reader:
    def __init__(self) -> None:
        self.is_closed = False

    def follow(self):
        try:
            while True:
                yield None
        finally:
            self.is_closed = True


def test_tails_are_bounded_and_give_their_places_back() -> None:
    tails, readers = Tails(), [_Reader() for _ in range(MAX_TAILS)]
    open_tails = [tails.open(lambda reader=reader: reader) for reader in readers]
    with pytest.raises(OptionsError, match=f"{MAX_TAILS} live tails are open: close one of these pages"):
        tails.open(_Reader)
    assert open_tails[0].take() is None
    open_tails[0].close()
    for thread in open_tails[0].closing:
        thread.join()
    assert readers[0].is_closed
    tails.open(_Reader)


def test_a_page_without_a_cluster_says_how_to_name_one() -> None:
    data = PageData(Histories(), jobs=RunningJobs())
    assert data.facts()["servers"] is None
    with pytest.raises(OptionsError, match="the page does not know where Kafka is"):
        data.cluster()


def test_secrets_of_a_cluster_are_not_among_the_facts() -> None:
    data = PageData(Histories(), kafka={"bootstrap.servers": "somewhere:9092", "sasl.password": "hush"})
    assert data.facts()["servers"] == "somewhere:9092"
    assert "hush" not in repr(data.facts()) + repr(data.cluster().properties)
