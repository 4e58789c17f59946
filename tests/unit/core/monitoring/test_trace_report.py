from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from millrace.api.session_traces import SessionTraces
from millrace.monitoring.trace_report import SETTING, TraceForwarder, TraceReport, max_links


class Session:
    """The settings of a session."""

    is_stopped = False

    def __init__(self) -> None:
        self.conf = self
        self.settings: dict[str, str] = {}

    def get(self, name: str, default: str) -> str:
        return self.settings.get(name, default)

    def set(self, name: str, value: str) -> None:
        self.settings[name] = value

    def unset(self, name: str) -> None:
        del self.settings[name]


@pytest.fixture
def forwarder() -> Iterator[TraceForwarder]:
    forwarding = TraceForwarder()
    yield forwarding
    forwarding.close()


def test_followers_get_as_many_traces_as_they_want(forwarder: TraceForwarder) -> None:
    session: Any = Session()
    few, many = SessionTraces(2), SessionTraces(5)
    few.open(session)
    many.open(session)
    try:
        setting = session.settings[SETTING]
        assert max_links(setting) == 5
        forwarder.forward(TraceReport("run", 7, ("a", "b", "c"), setting))
        forwarder.forward(TraceReport("run", 7, ("c", "d", "e", "f"), setting))
        assert few.take("run", 7) == ("a", "b")
        assert many.take("run", 7) == ("a", "b", "c", "d", "e")
        assert many.take("run", 7) == ()
    finally:
        few.close()
        assert max_links(session.settings[SETTING]) == 5
        many.close()
    assert session.settings == {}


def test_who_wants_no_traces_leaves_the_session_alone() -> None:
    session: Any = Session()
    none = SessionTraces(0)
    none.open(session)
    none.close()
    assert session.settings == {}


@pytest.mark.parametrize("setting", [None, "", "5", "x@127.0.0.1:1:aa", "5@nowhere"])
def test_a_setting_that_names_nobody_asks_for_nothing(setting: str | None) -> None:
    assert max_links(setting) == 0


def test_a_follower_that_has_gone_delays_nobody(forwarder: TraceForwarder) -> None:
    session: Any = Session()
    gone, there = SessionTraces(1), SessionTraces(1)
    gone.open(session)
    there.open(session)
    setting = session.settings[SETTING]
    gone.close()
    forwarder.forward(TraceReport("run", 0, ("a",), setting))
    assert there.take("run", 0) == ("a",)
    there.close()
