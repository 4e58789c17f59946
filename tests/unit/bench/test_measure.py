from __future__ import annotations

from unittest.mock import sentinel

import pytest
from bench.measure import Bench, Run, SameAnswer, Series, alternate


def test_connectors_take_turns_and_warm_ups_do_not_count() -> None:
    bench = Bench(
        sentinel.spark,
        "",
        sentinel.topics,
        records=1,
        runs=3,
        warm_ups=1,
        batches=1,
        tls_servers="",
        tls_client={},
        far=sentinel.far,
        distances_ms=(0,),
    )
    ran: list[str] = []

    def contestant(name: str) -> float:
        ran.append(name)
        return float(len(ran))

    series = alternate(bench, "work", {"a": lambda: contestant("a"), "b": lambda: contestant("b")})

    assert "".join(ran) == "abbaabba"
    assert series == {"a": Series((4.0, 5.0, 8.0)), "b": Series((3.0, 6.0, 7.0))}


def test_figures_beside_the_compared_ones_are_kept_in_the_order_of_runs() -> None:
    bench = Bench(
        sentinel.spark,
        "",
        sentinel.topics,
        records=1,
        runs=2,
        warm_ups=0,
        batches=1,
        tls_servers="",
        tls_client={},
        far=sentinel.far,
        distances_ms=(0,),
    )
    runs = iter([Run(1.0, {"requests": 7.0}), Run(2.0, {"requests": 8.0})])

    assert alternate(bench, "work", {"a": lambda: next(runs)}) == {"a": Series((1.0, 2.0), {"requests": (7.0, 8.0)})}


def test_reads_with_different_answers_are_refused() -> None:
    answer = SameAnswer()
    answer.check((3, "x"))
    answer.check((3, "x"))

    with pytest.raises(RuntimeError, match="two reads of one topic differ"):
        answer.check((2, "x"))
