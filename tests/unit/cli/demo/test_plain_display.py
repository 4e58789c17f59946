import dataclasses
import io

from millrace_cli.demo.plain_display import PlainDisplay, snapshot_line


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_line_has_rates_lag_and_totals(snapshot):
    assert snapshot_line(snapshot) == (
        "    7 s | in 3,457/s | out 3,318/s | lag orders-0:0 orders-1:1200 | revenue DE:12,346"
    )


def test_before_the_first_result_the_line_says_so(snapshot):
    early = dataclasses.replace(snapshot, seconds=None, lag={}, totals=())
    assert snapshot_line(early) == "  start | in 3,457/s | out 3,318/s | lag - | revenue -"


def test_lines_come_every_two_seconds(snapshot):
    clock, stream = Clock(), io.StringIO()
    with PlainDisplay(stream, clock) as display:
        for clock.now in (0.0, 0.5, 1.9, 2.0, 2.5, 4.1):
            display.show(snapshot)
    assert len(stream.getvalue().splitlines()) == 3


def test_without_a_batch_there_is_no_line(snapshot):
    stream = io.StringIO()
    with PlainDisplay(stream) as display:
        display.show(dataclasses.replace(snapshot, batches=0))
    assert stream.getvalue() == ""


def test_what_is_said_is_a_line(snapshot):
    stream = io.StringIO()
    with PlainDisplay(stream) as display:
        display.say("stopping")
    assert stream.getvalue() == "stopping\n"
