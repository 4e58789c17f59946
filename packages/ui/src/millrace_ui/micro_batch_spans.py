"""Micro-batches as spans of OpenTelemetry, with their phases as children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from millrace.contracts import QueryReport

_TRACEPARENT = "traceparent"
_TRACES = TraceContextTextMapPropagator()
_WHOLE = "triggerExecution"

# As Spark runs them; it reports durations alone
_ORDER = ("latestOffset", "walCommit", "getBatch", "queryPlanning", "addBatch", "commitOffsets", "commitBatch")


def export_micro_batch(tracer: Tracer, report: QueryReport) -> None:
    """Make the span of a micro-batch that has ended, and those of its phases, one after the other."""
    start = _nanoseconds(report.time)
    end = start + _phase_nanoseconds(report.phases.get(_WHOLE, sum(report.phases.values())))
    attributes = {**_attributes(report), "millrace.input_rows": report.input_rows}
    # Of no other trace: the program's current span is not what the micro-batch is part of
    span = tracer.start_span(
        f"micro-batch {report.query}", Context(), SpanKind.CONSUMER, attributes, _links(report), start
    )
    inside = set_span_in_context(span, Context())
    for phase, begin, stop in _phases(report.phases, start, end):
        tracer.start_span(phase, inside, start_time=begin).end(stop)
    span.end(end)


def export_failure(tracer: Tracer, report: QueryReport) -> None:
    """Make the span of a micro-batch that has failed, whose duration Spark does not report."""
    at = _nanoseconds(report.time)
    span = tracer.start_span(
        f"micro-batch {report.query}", Context(), SpanKind.CONSUMER, attributes=_attributes(report), start_time=at
    )
    span.set_status(Status(StatusCode.ERROR, report.error))
    span.end(at)


def _links(report: QueryReport) -> list[Link]:
    contexts = (_TRACES.extract({_TRACEPARENT: text}, Context()) for text in report.traceparents)
    return [Link(get_current_span(context).get_span_context()) for context in contexts]


def _attributes(report: QueryReport) -> dict[str, str | int]:
    batch = {} if report.batch_id is None or report.error else {"millrace.batch_id": report.batch_id}
    return {
        "messaging.system": "kafka",
        "millrace.query": report.query,
        "millrace.query_id": report.query_id,
        "millrace.run_id": report.run_id,
        **batch,
    }


def _phases(durations: Mapping[str, int], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    known = [phase for phase in _ORDER if phase in durations]
    others = sorted(set(durations) - {*known, _WHOLE})
    for phase in [*known, *others]:
        stop = min(end, start + _phase_nanoseconds(durations[phase]))
        yield phase, start, stop
        start = stop


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1000) * 1_000_000


def _phase_nanoseconds(milliseconds: int) -> int:
    return milliseconds * 1_000_000
