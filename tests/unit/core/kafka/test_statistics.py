"""Statistics of real clients whose brokers do not exist."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from millrace.kafka.producer import WatchedProducer, poll_all
from support.waiting import wait_until

SETTINGS: dict[str, Any] = {"bootstrap.servers": "127.0.0.1:1", "statistics.interval.ms": "20", "client.id": "me"}


def test_producers_with_one_client_id_have_names_of_their_own() -> None:
    both = [WatchedProducer(SETTINGS), WatchedProducer(SETTINGS)]

    def names() -> set[str]:
        poll_all()
        return {each.statistics.newest()[0] for each in both} - {""}

    wait_until(lambda: len(names()) == 2, "statistics of both")
    assert all(name.startswith("me#producer-") for name in names())


def test_a_producer_tells_what_it_has_sent_and_what_waits() -> None:
    one = WatchedProducer(SETTINGS)
    one.client.produce("orders", b"12345")

    def said() -> dict[str, int]:
        poll_all()
        return one.statistics.newest()[1]

    wait_until(lambda: said().get("msg_cnt") == 1, "statistics with the record")
    assert {"txmsgs": 0, "txmsg_bytes": 0, "msg_size": 5}.items() <= said().items()


def test_a_producer_without_statistics_says_nothing() -> None:
    silent = WatchedProducer({"bootstrap.servers": "127.0.0.1:1"})
    poll_all()
    assert silent.statistics.newest() == ("", {})


def test_a_producer_that_is_dropped_is_not_kept_to_be_heard() -> None:
    made = WatchedProducer({"bootstrap.servers": "127.0.0.1:1"})
    known = weakref.ref(made)
    poll_all()
    del made
    gc.collect()
    assert known() is None
