"""Causes that the progress of a query shows."""

from __future__ import annotations

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
            self.lastProgress = SimpleNamespace(sources=[source], numInputRows=rows, sink=sink)
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


def test_it_prints_evidence_and_remedy():
    text = str(millrace.why(Query(5, 9, rows=7, held_back="limit")))
    assert text.splitlines()[0].startswith("read-limit: each micro-batch reads a part only")
    assert "  unread offsets: a-0 4" in text
    assert text.splitlines()[-1].startswith("  -> raise or drop the limit")


def test_a_query_or_options_are_needed():
    with pytest.raises(OptionsError, match="give the query"):
        millrace.why()
