from __future__ import annotations

from millrace.sink.committer.ledger_store import run_key
from support.records import sink_config


def test_sinks_of_one_run_with_a_prefix_are_told_apart_by_their_clusters() -> None:
    exactly_once = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy"}
    here, there = (
        sink_config(topic="orders", **exactly_once, **{"properties.bootstrap.servers": servers})
        for servers in ("here:9092", "there:9092")
    )
    assert run_key(here, "query", "run") == run_key(here, "query", "run")
    assert run_key(here, "query", "run") != run_key(there, "query", "run")
