"""Causes that the progress of a query shows."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import pytest

import millrace
from millrace.errors import OptionsError


class Query:
    """A query with a last progress."""

    isActive = True  # noqa: N815 - Spark's name
    status = {"message": "Initializing sources"}  # noqa: RUF012 - as Spark has it

    def __init__(self, end=None, latest=None, rows=0, written=-1, failure=None, **metrics):
        def offset(at):
            return {"v": 1, "topics": {"a": {"0": at}}}

        self.lastProgress = None
        if end is not None:
            source = SimpleNamespace(
                endOffset=json.dumps(offset(end)), latestOffset=json.dumps({**offset(latest), "metrics": metrics})
            )
            sink = SimpleNamespace(numOutputRows=written)
            self.lastProgress = SimpleNamespace(
                sources=[source], numInputRows=rows, sink=sink, timestamp="2026-01-01T00:00:00.000Z"
            )
        self.recentProgress = [self.lastProgress] if self.lastProgress else []
        self._failure = failure

    def exception(self):
        return self._failure


def kinds(query):
    return [cause.kind for cause in millrace.why(query).causes]


READ = {"partitions": {"a": {"0": [7, 70, 0, None, None, 0]}}}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query(), ["starting"]),
        (Query(failure=ValueError("it broke")), ["failed"]),
        (Query(5, 5, rows=7), ["no-new-offsets"]),
        (Query(5, 9, rows=7, held_back="limit"), ["read-limit"]),
        (Query(5, 9, rows=7, held_back="alignment"), ["alignment"]),
        (Query(5, 9, rows=7, held_back="min-records"), ["min-records"]),
        (Query(5, 5, rows=7, high_watermarks={"a": {"0": 8}}), ["open-transactions"]),
        (Query(5, 5, **READ), ["filter"]),
        (Query(5, 5, rows=7, written=0, **READ), ["filter"]),
        (Query(5, 5, rows=7, written=3, **READ), ["no-new-offsets"]),
        (Query(5, 9, held_back="limit", **READ), ["read-limit", "filter"]),
    ],
)
def test_the_cause_is_named(query, expected):
    assert kinds(query) == expected


class Doing(Query):
    """A query whose status is one of these, look by look."""

    def __init__(self, *messages, active=True):
        super().__init__(5, 5, rows=7)
        self._messages, self._active = itertools.cycle(messages), active

    @property
    def status(self):
        return {"message": next(self._messages), "isTriggerActive": self._active}


ASKING = "Getting offsets from PythonMicroBatchStream"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Doing(ASKING), "unreachable"),
        (Doing(ASKING, active=False), "no-new-offsets"),
        (Doing(*[ASKING] * 5, "Waiting for data to arrive"), "no-new-offsets"),
        (Doing("Processing new data"), "behind"),
    ],
)
def test_a_query_that_waits_for_brokers_is_told_from_one_that_has_read_all(query, expected):
    (cause,) = millrace.why(query).causes
    assert cause.kind == expected
    if cause.remedy:
        assert cause.evidence == {"last progress": "2026-01-01T00:00:00.000Z"}


def test_brokers_that_do_not_answer_are_a_cause():
    (cause,) = millrace.why(options={"properties.bootstrap.servers": "127.0.0.1:1", "topic": "a"}).causes
    assert cause.kind == "unreachable"
    assert cause.message.startswith("no Kafka broker answered within 5 s at 127.0.0.1:1")
    assert "millrace doctor" in cause.remedy


def test_it_prints_evidence_and_remedy():
    text = str(millrace.why(Query(5, 9, rows=7, held_back="limit")))
    assert text.splitlines()[0].startswith("read-limit: each micro-batch reads a part only")
    assert "  unread offsets: a-0 4" in text
    assert text.splitlines()[-1].startswith("  -> raise or drop the limit")


def test_a_query_or_options_are_needed():
    with pytest.raises(OptionsError, match="give the query"):
        millrace.why()
