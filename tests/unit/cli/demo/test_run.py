"""Requests to stop the demo."""

from __future__ import annotations

import importlib
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from millrace_cli.demo.orders import orders
from millrace_cli.demo.run import StopRequests
from support.waiting import wait_until


@pytest.fixture
def requests() -> Iterator[StopRequests]:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield StopRequests()
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_remembered_and_breaks_nothing(requests: StopRequests, number: signal.Signals) -> None:
    assert not requests.requested
    os.kill(os.getpid(), number)
    assert requests.requested


def test_a_signal_ends_a_raising_block_once_and_not_its_tidying_up(requests: StopRequests) -> None:
    tidied = []

    def start_something() -> None:
        with requests.raising():
            try:
                os.kill(os.getpid(), signal.SIGINT)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                tidied.append("up")

    with pytest.raises(KeyboardInterrupt):
        start_something()
    assert tidied == ["up"]


def test_a_raising_block_after_the_signal_does_not_begin(requests: StopRequests) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    begun = False
    with pytest.raises(KeyboardInterrupt), requests.raising():
        begun = True
    assert not begun


def test_a_signal_while_a_module_is_imported_waits_for_its_end(
    requests: StopRequests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else Python may keep its lock of imports, for which Spark's thread waits
    lines = ("import os, signal", "os.kill(os.getpid(), signal.SIGINT)", "is_whole = True")
    (tmp_path / "interrupted.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def import_and_wait() -> None:
        modules.append(importlib.import_module("interrupted"))
        wait_until(lambda: False, "the interrupt")

    with pytest.raises(KeyboardInterrupt), requests.raising():
        import_and_wait()
    assert [module.is_whole for module in modules] == [True]


def test_orders_have_few_returned_goods_and_differ_only_in_time() -> None:
    first, second = ([next(shop) for _ in range(500)] for shop in (orders(random.Random(1)), orders(random.Random(1))))
    assert [order | {"ts": ""} for order in first] == [order | {"ts": ""} for order in second]
    assert 0 < sum(order["quantity"] < 0 for order in first) < 50
