"""Details of a query on request: the causes for which it stands still, its plan, its configuration."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import millrace
from millrace.api.query_explanation import explain_query, explained_parts
from millrace.errors import OptionsError
from millrace_ui.query_history import QueryHistory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace.idle.model import WhyIdle

_PROPERTIES = "properties."


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


def kafka_of_queries(spark: SparkSession) -> dict[str, str]:
    """Return Kafka's client properties of a running query that reads or writes by millrace; none without one."""
    for query in spark.streams.active:
        for part in explained_parts(query):
            return {name: text for name, text in part.given.items() if name.startswith(_PROPERTIES)}
    return {}


def _why(query: StreamingQuery) -> WhyIdle:
    reads = [part.given for part in explained_parts(query) if part.name.startswith("read")]
    try:
        # With the options of its read, the brokers and topics are examined, too
        return millrace.why(query, options=reads[0] if len(reads) == 1 else None)
    except OptionsError:
        return millrace.why(query)


def _running(spark: SparkSession, query_id: str) -> StreamingQuery | None:
    return next((query for query in spark.streams.active if str(query.id) == query_id), None)
