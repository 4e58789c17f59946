import socket
from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker.listener import Listener
from millrace_broker.plan import NodePlan, make_plan
from millrace_broker.readiness import PortTakenError, await_ready, log_tail


@pytest.fixture
def plan(tmp_path: Path) -> NodePlan:
    return make_plan(tmp_path, [Listener("PLAINTEXT")], {})


def test_the_telling_lines_of_the_log_are_shown(plan: NodePlan) -> None:
    plan.log_file.write_text(
        "2026 INFO fine (kafka)\n2026 ERROR no room (kafka)\njava.io.IOException: disk\n\tat x.y\n"
    )
    assert log_tail(plan).endswith("\n    2026 ERROR no room (kafka)\n    java.io.IOException: disk")


def test_without_a_log_javas_own_words_are_shown(plan: NodePlan) -> None:
    plan.console_file.write_text("Unrecognized option: -XX:+Nonsense\n")
    assert "Unrecognized option: -XX:+Nonsense" in log_tail(plan)


def test_a_process_that_has_ended_is_an_error_with_its_code(plan: NodePlan) -> None:
    with pytest.raises(MachineError, match="ended at its start with code 7"):
        await_ready(plan, lambda: 7, frozenset([1]))


def test_a_taken_port_is_told_apart(plan: NodePlan) -> None:
    plan.log_file.write_text("ERROR x\nCaused by: java.net.BindException: Address already in use\n")
    with pytest.raises(PortTakenError):
        await_ready(plan, lambda: 1, frozenset([1]))


def test_something_else_on_the_port_is_not_a_broker(plan: NodePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millrace_broker.readiness._SECONDS", 0.1)
    monkeypatch.setattr("millrace_broker.admin._ANSWER_SECONDS", 0.1)
    with (
        socket.create_server((plan.internal.host, plan.internal.port)),
        pytest.raises(MachineError, match=r"was not ready after 0\.1 seconds"),
    ):
        await_ready(plan, lambda: None, frozenset([1]))
