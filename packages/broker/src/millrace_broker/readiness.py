"""Waits until a broker serves clients, or says from its log why it does not."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

from millrace.errors import MachineError
from millrace_broker.admin import nodes_seen, wait_until
from millrace_broker.plan import NodePlan

_SECONDS = 90.0
_LINES = 12


class PortTakenError(MachineError):
    """Another program took a port between the choosing of it and the broker's start."""


def await_ready(plan: NodePlan, exit_code: Callable[[], int | None], nodes: frozenset[int]) -> None:
    """Wait until a broker that was started serves clients.

    Args:
        plan: The broker.
        exit_code: Tells the code that its process ended with; none while it runs.
        nodes: The brokers that it must know to be up.

    Raises:
        PortTakenError: Another program has one of its ports.
        MachineError: It ended, or it is not ready after 90 seconds; the message holds the last lines of its log.
    """
    if not wait_until(lambda: _ended(exit_code) or _serves(plan, nodes), _SECONDS):
        raise MachineError(f"the Kafka broker was not ready after {_SECONDS:g} seconds.\n{log_tail(plan)}")
    code = exit_code()
    if code is None:
        return
    tail = log_tail(plan)
    if "Address already in use" in tail:
        raise PortTakenError(f"the Kafka broker ended at its start, since one of its ports is taken.\n{tail}")
    raise MachineError(f"the Kafka broker ended at its start with code {code}.\n{tail}")


def log_tail(plan: NodePlan) -> str:
    """The lines of a broker's logs that most likely say what went wrong, with the names of the files."""
    # The newest start's lines alone: a data folder that is kept has those of earlier ones above
    logged = _lines(plan.log_file)[-400:]
    telling = [line for line in logged if re.search(r" (ERROR|FATAL) |^Caused by|Exception: |Address already", line)]
    lines = telling[-_LINES:] or _lines(plan.console_file)[-_LINES:] or logged[-_LINES:] or ["(nothing)"]
    shown = "".join(f"\n    {line[:400]}" for line in lines)
    return f"From {plan.log_file} and {plan.console_file.name}:{shown}"


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.exists() else []


def _ended(exit_code: Callable[[], int | None]) -> bool:
    return exit_code() is not None


def _serves(plan: NodePlan, nodes: frozenset[int]) -> bool:
    # A plain connection first: Kafka's client would wait longer and longer between its own attempts
    try:
        socket.create_connection((plan.internal.host, plan.internal.port), timeout=1).close()
    except OSError:
        return False
    return nodes <= nodes_seen(plan.internal.address)
