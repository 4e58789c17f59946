"""Details of a query on request: the causes for which it stands still, its plan, its configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import millrace
from millrace.api.query_explanation import explain_query, explained_parts
from millrace.configuration.build import configure_source
from millrace.errors import OptionsError
from millrace_ui.query_history import QueryHistory
from millrace_ui.topics.messages import MAX_MESSAGES, MessageFilter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace.idle.model import WhyIdle

MAX_SHOWN_LETTERS = 20
"""The number of the newest dead letters that a query's view shows."""

_PROPERTIES = "properties."


class MalformedSearch(NamedTuple):
    """A search for the malformed messages of a query.

    Attributes:
        kafka: Kafka's client properties.
        wanted: The messages: of the topic of dead letters, or those read, of which the malformed ones count.
        has_dead_letters: Whether they are dead letters.
    """

    kafka: Mapping[str, str]
    wanted: MessageFilter
    has_dead_letters: bool = False


def why_idle(spark: SparkSession, query_id: str, history: QueryHistory | None) -> dict[str, Any] | None:
    """Return the causes for which nothing comes from a query; None where it is not known.

    Args:
        spark: Its session.
        query_id: Its id.
        history: What the page knows of it; a query that has ended is known by it alone.
    """
    query = _running(spark, query_id)
    if query is not None:
        return {**_why(query).to_json(), "command": "millrace.why(query)"}
    if history is None:
        return None
    error = history.report.error
    message = error or "the query has ended or was stopped"
    remedy = "correct what it says, and start the query again" if error else "start it again"
    cause: dict[str, Any] = {
        "kind": "failed" if error else "stopped",
        "message": message,
        "remedy": remedy,
        "evidence": {},
    }
    return {"causes": [cause], "command": "millrace.why(query)"}


def plan_of(spark: SparkSession, query_id: str) -> dict[str, Any] | None:
    """Return Spark's plan of a running query with the options of its reads and writes; None where it does not run."""
    query = _running(spark, query_id)
    if query is None:
        return None
    explanation = explain_query(query)
    return {
        "plan": explanation.plan,
        "parts": [
            {"name": part.name, "options": [dataclasses.asdict(option) for option in part.options]}
            for part in explanation.parts
        ],
        "command": "query.explain()",
    }


def exactly_once_of(spark: SparkSession, query_id: str) -> dict[str, Any] | None:
    """Return the state of a running query's exactly-once write; None where it does not run, or not write so."""
    query = _running(spark, query_id)
    state = None if query is None else millrace.exactly_once_state(query)
    if state is None:
        return None
    ledgers = [
        {**dataclasses.asdict(ledger), "written_at": ledger.written_at.isoformat(), "is_own": ledger.query == query_id}
        for ledger in state.ledgers
    ]
    hidden = [{"partition": f"{topic}-{number}", "records": n} for (topic, number), n in state.open_records.items()]
    command = "millrace.exactly_once_state(query)"
    return {"prefix": state.prefix, "tasks": state.tasks, "ledgers": ledgers, "open": hidden, "command": command}


def malformed_searches(spark: SparkSession, query_id: str) -> list[MalformedSearch] | None:
    """Return the searches for the malformed messages of a running query; None where it does not run."""
    query = _running(spark, query_id)
    if query is None:
        return None
    reads = [part.unmasked for part in explained_parts(query) if part.name.startswith("read")]
    return [search for read in reads for search in _searches(read)]


def kafka_of_queries(spark: SparkSession) -> dict[str, str]:
    """Return Kafka's client properties of a running query that reads or writes by millrace; none without one."""
    for query in spark.streams.active:
        for part in explained_parts(query):
            return {name: text for name, text in part.unmasked.items() if name.startswith(_PROPERTIES)}
    return {}


def _searches(raw: Mapping[str, str]) -> Iterator[MalformedSearch]:
    """Yield the topic of dead letters of a read, or else its own topics."""
    options = configure_source(raw, warns=False).options
    kafka = {name.removeprefix(_PROPERTIES): value for name, value in raw.items() if name.startswith(_PROPERTIES)}
    letters = next((value for name, value in raw.items() if name.lower() == "dirty-data.collector.topic"), None)
    if letters is not None:
        yield MalformedSearch(kafka, MessageFilter(letters, MAX_SHOWN_LETTERS), has_dead_letters=True)
        return
    for topic in options.topics:
        yield MalformedSearch(kafka, MessageFilter(topic, MAX_MESSAGES, options.value_format or ""))


def _why(query: StreamingQuery) -> WhyIdle:
    reads = [part.unmasked for part in explained_parts(query) if part.name.startswith("read")]
    try:
        # With the options of its read, the brokers and topics are examined, too
        return millrace.why(query, options=reads[0] if len(reads) == 1 else None)
    except OptionsError:
        return millrace.why(query)


def _running(spark: SparkSession, query_id: str) -> StreamingQuery | None:
    return next((query for query in spark.streams.active if str(query.id) == query_id), None)
