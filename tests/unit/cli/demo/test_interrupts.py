import os
import signal
import threading

import pytest

from millrace_cli.demo.interrupts import Interrupts


@pytest.fixture
def interrupts():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    with Interrupts() as inside:
        yield inside


def start_something(interrupts, tidied=None):
    with interrupts.raising():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(5)
        finally:
            if tidied is not None:
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait(0.05)
                tidied.append("up")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_remembered_and_breaks_nothing(interrupts, number):
    assert not interrupts.requested
    os.kill(os.getpid(), number)
    assert interrupts.wait(5)
    assert interrupts.requested


def test_a_signal_ends_a_raising_block(interrupts):
    with pytest.raises(KeyboardInterrupt):
        start_something(interrupts)


def test_a_raising_block_after_the_signal_does_not_begin(interrupts):
    os.kill(os.getpid(), signal.SIGINT)
    assert interrupts.wait(5)
    begun = False
    with pytest.raises(KeyboardInterrupt), interrupts.raising():
        begun = True
    assert not begun


def test_a_second_signal_does_not_break_into_the_tidying_up(interrupts):
    tidied = []
    with pytest.raises(KeyboardInterrupt):
        start_something(interrupts, tidied)
    assert tidied == ["up"]


def test_the_handlers_of_before_come_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
