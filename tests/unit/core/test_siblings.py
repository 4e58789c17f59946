"""Calls between processes with one parent, this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from millrace import siblings
from millrace.siblings import SiblingListener, call
from support.names import unique_name
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(not siblings.IS_SUPPORTED, reason="there are no abstract sockets")

LISTEN = """
import sys
import time
from millrace.siblings import SiblingListener
def answer(listener, request, is_abandoned):
    if request == b"end":
        listener.close()
        while listener.is_open:
            time.sleep(0.01)
        print("closed", flush=True)
        return None
    if request == b"wait":
        print("waiting", flush=True)
        while not is_abandoned():
            time.sleep(0.01)
        print("abandoned", flush=True)
    return request.upper()
listener = SiblingListener(sys.argv[1], answer)
print("listening", flush=True)
sys.stdin.read()
"""

FORK = """
import os, signal
child = os.fork()
if child:
    print(child, flush=True)
signal.pause()
"""

CALL = """
import sys
from millrace.siblings import ask, call
connection = call(sys.argv[1])
print(connection and ask(connection, sys.argv[2].encode()), flush=True)
"""


@pytest.fixture
def name():
    return unique_name("siblings")


@contextmanager
def program(text, *arguments):
    command = [sys.executable, "-c", text, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.fixture
def listening(name):
    with program(LISTEN, name) as running:
        assert running.stdout.readline() == "listening\n"
        yield running


def answer_to(name, request, calling=CALL):
    with program(calling, name, request) as running:
        return running.stdout.readline().strip()


def wait_until_answered(name):
    """Call until the listener answers: a caller gives one up that does not greet it within a second."""
    wait_until(lambda: answer_to(name, "hello") == "b'HELLO'", "an answer")


def test_a_sibling_answers(name, listening):
    wait_until_answered(name)


def test_nobody_listens(name):
    assert answer_to(name, "hello") == "None"


def test_a_listener_that_was_killed_leaves_nothing(name, listening):
    listening.kill()
    listening.wait()
    assert answer_to(name, "hello") == "None"


def test_a_busy_listener_refuses_until_its_caller_has_gone(name, listening):
    with program(CALL, name, "wait"):
        assert listening.stdout.readline() == "waiting\n"
        assert answer_to(name, "hello") == "None"
    assert listening.stdout.readline() == "abandoned\n"
    wait_until_answered(name)


def test_a_listener_that_is_closed_leaves_its_name_to_others(name, listening):
    wait_until_answered(name)
    assert answer_to(name, "end") == "None"
    assert listening.stdout.readline() == "closed\n"
    with program(LISTEN, name) as other:
        assert other.stdout.readline() == "listening\n"
        wait_until_answered(name)


def test_processes_of_another_parent_are_refused(name):
    listener = SiblingListener(name, lambda listener, request, is_abandoned: request)
    try:
        calling = (
            f"import millrace.siblings\nmillrace.siblings._address = lambda name: {siblings._address(name)!r}\n{CALL}"
        )
        assert answer_to(name, "hello", calling) == "None"
        # Neither does a process call itself
        assert call(name) is None
    finally:
        listener.close()


def test_a_listener_closes_without_calls(name):
    listener = SiblingListener(name, lambda listener, request, is_abandoned: None, idle_timeout_s=0.05)
    wait_until(lambda: not listener.is_open, "the listener to close")


def test_a_forked_process_does_not_keep_the_name_of_one_that_was_killed(name):
    with program(LISTEN.replace("sys.stdin.read()", FORK), name) as forking:
        assert forking.stdout.readline() == "listening\n"
        child = int(forking.stdout.readline())
        try:
            wait_until_answered(name)
            forking.kill()
            forking.wait()
            with program(LISTEN, name) as other:
                assert other.stdout.readline() == "listening\n"
                wait_until_answered(name)
        finally:
            os.kill(child, signal.SIGKILL)
