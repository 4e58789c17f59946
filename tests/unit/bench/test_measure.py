from __future__ import annotations

from unittest.mock import sentinel

import pytest
from bench.measure import Bench, Result, Run, SameAnswer, Series, alternate


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


@pytest.mark.parametrize(
    ("millrace", "at_most", "met"), [(20.0, False, True), (19.0, False, False), (20.0, True, True), (21.0, True, False)]
)
def test_a_ratio_is_held_against_its_target(millrace: float, at_most: bool, met: bool) -> None:
    result = Result("work", "ms", Series((1.0, millrace, 99.0)), Series((5.0, 10.0, 11.0)), target=2.0, at_most=at_most)

    assert result.ratio == millrace / 10
    assert result.is_met is met


def test_a_limit_without_a_ratio_holds_for_every_run() -> None:
    assert Result("memory", "MB", Series((100.0, 350.0)), None, target=350, at_most=True).is_met
    assert not Result("memory", "MB", Series((100.0, 100.0, 351.0)), None, target=350, at_most=True).is_met


def test_reads_with_different_answers_are_refused() -> None:
    answer = SameAnswer()
    answer.check((3, "x"))
    answer.check((3, "x"))

    with pytest.raises(RuntimeError, match="two reads of one topic differ"):
        answer.check((2, "x"))


def test_a_result_without_a_target_is_shown_only():
    result = Result("latency", "ms", Series((70.0,)), Series((4.0,)), target=None)
    assert result.is_met is None
    assert result.ratio == 17.5
