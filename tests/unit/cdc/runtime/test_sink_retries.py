"""Retries of a sink that is away."""

from __future__ import annotations

import logging

import pytest

from millrace.errors import MillraceError, SchemaError, UnreachableError
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_cdc.runtime.sink_retries import SinkRetries


def away(message="the database is away") -> MillraceError:
    error = TableSinkError(message)
    error.is_transient = True
    return error


class Sink:
    """An action that fails some times; time passes where it is waited for."""

    def __init__(self, *errors: Exception, stops_after_s: float | None = None) -> None:
        self.errors = list(errors)
        self.waited_s = 0.0
        self.waits: list[float] = []
        self.stops_after_s = stops_after_s

    def write(self) -> str:
        self.waits.append(self.waited_s)
        self.waited_s = 0.0
        if self.errors:
            raise self.errors.pop(0)
        return "written"

    def sleep(self, seconds: float) -> None:
        self.waited_s += seconds

    def is_running(self) -> bool:
        return self.stops_after_s is None or self.waited_s < self.stops_after_s

    def run(self, max_retries: int = 7) -> str:
        return SinkRetries(max_retries, self.is_running, self.sleep).run(self.write)


def test_a_sink_that_is_away_for_a_minute_is_waited_for(caplog):
    sink = Sink(*[away()] * 7)
    with caplog.at_level(logging.WARNING):
        assert sink.run() == "written"
    assert sink.waits == [0, 1, 2, 4, 8, 16, 30, 30]
    assert caplog.messages[0] == (
        "the sink is away, and the micro-batch is tried again in 1 s (1 of 7): the database is away"
    )


def test_it_fails_when_it_stays_away():
    sink = Sink(*[away(f"{number}") for number in range(3)])
    with pytest.raises(TableSinkError, match="2"):
        sink.run(max_retries=2)
    assert sink.waits == [0, 1, 2]
    none = Sink(away())
    with pytest.raises(TableSinkError):
        none.run(max_retries=0)
    assert none.waits == [0]


def failed_table() -> MillraceError:
    error = away()
    error.failed_table = "shop.o"
    return error


@pytest.mark.parametrize("error", [TableSinkError("refused"), SchemaError("no"), RuntimeError("bug"), failed_table()])
def test_other_errors_are_not_tried_again(error):
    sink = Sink(error)
    with pytest.raises(type(error)):
        sink.run()
    assert sink.waits == [0]


def test_a_pipeline_that_is_stopped_waits_no_longer():
    sink = Sink(*[away()] * 7, stops_after_s=3)
    with pytest.raises(TableSinkError):
        sink.run()
    assert sink.waits == [0, 1, 2]
    assert sink.waited_s == 3


def test_brokers_that_do_not_answer_are_waited_for():
    assert Sink(UnreachableError("no broker answered")).run() == "written"
