"""The data of a page: what each of its views shows, as values of JSON."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import millrace
from millrace.contracts.jobs import JOBS, RunningJobs
from millrace.contracts.query_schemas import QUERY_SCHEMAS, QuerySchemas
from millrace.errors import OptionsError
from millrace_ui.health import Health
from millrace_ui.health_view import health_view
from millrace_ui.jobs_view import jobs_view
from millrace_ui.query_details import (
    MalformedSearch,
    exactly_once_of,
    kafka_of_queries,
    malformed_searches,
    plan_of,
    why_idle,
)
from millrace_ui.query_history import Histories, QueryHistory
from millrace_ui.rendered_views import RenderedViews
from millrace_ui.schema_view import schema_in_short, schema_view
from millrace_ui.topics.cluster import Cluster
from millrace_ui.topics.messages import MessageFilter, TopicReader
from millrace_ui.topics.tails import Tails
from millrace_ui.views import charts_view, queries_view, query_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROPERTIES = "properties."
_NO_CLUSTER = (
    "the page does not know where Kafka is, since no query and no job runs: tell it by millrace.ui(spark, "
    "kafka={'bootstrap.servers': 'HOST:PORT'}), or open one by `millrace ui --bootstrap-servers HOST:PORT`"
)


class PageData:
    """The data of a page.

    Args:
        histories: The histories of the session's queries.
        spark: The session; None for a page without one.
        kafka: Kafka's client properties; None for those of the jobs that run in this process.
        shows_payloads: Whether keys and values of messages are shown.
        jobs: The pipelines and SQL statements of this process.
        schemas: The schemas of this process's queries whose columns follow messages.

    Attributes:
        is_closing: Whether streams of events are to end, since the page closes.
    """

    def __init__(
        self,
        histories: Histories,
        spark: SparkSession | None = None,
        kafka: Mapping[str, str] | None = None,
        *,
        shows_payloads: bool = True,
        jobs: RunningJobs = JOBS,
        schemas: QuerySchemas = QUERY_SCHEMAS,
    ) -> None:
        self.histories = histories
        self.tails = Tails()
        self.is_closing = False
        self._spark = spark
        self._shows_payloads = shows_payloads
        self._jobs = jobs
        self._schemas = schemas
        self._rendered = RenderedViews(histories)
        self._cluster = None if kafka is None else Cluster(kafka)
        self._lock = threading.Lock()

    def facts(self) -> dict[str, Any]:
        """Return what the page can show."""
        kafka = self._kafka()
        return {
            "version": millrace.__version__,
            "hasSession": self._spark is not None,
            "servers": kafka.get("bootstrap.servers"),
            "showsPayloads": self._shows_payloads,
        }

    def queries(self) -> str:
        """Return all queries in short, as JSON."""
        view = self._rendered.text("", lambda: queries_view(self.histories.histories(), time.time()))
        return view or "[]"

    def query(self, query_id: str) -> str | None:
        """Return a query in full, as JSON; None where it is not known."""
        return self._view("query", query_id, query_view)

    def charts(self, query_id: str) -> str | None:
        """Return what the page draws of a query, as JSON; None where the query is not known."""
        return self._view("charts", query_id, charts_view)

    def why(self, query_id: str) -> dict[str, Any] | None:
        """Return the causes for which nothing comes from a query; None where it is not known."""
        return None if self._spark is None else why_idle(self._spark, query_id, self.histories.history(query_id))

    def plan(self, query_id: str) -> dict[str, Any] | None:
        """Return Spark's plan of a running query with the options of its reads and writes; None without it."""
        return None if self._spark is None else plan_of(self._spark, query_id)

    def exactly_once(self, query_id: str) -> dict[str, Any] | None:
        """Return the state of a query's exactly-once write; None without one."""
        return None if self._spark is None else exactly_once_of(self._spark, query_id)

    def schema(self, query_id: str) -> dict[str, Any] | None:
        """Return all changes of a query's columns; None where they follow no messages."""
        return schema_view(self._schemas.schema(query_id))

    def malformed(self, query_id: str) -> list[dict[str, Any]] | None:
        """Return the newest malformed messages of a running query with their reasons; None where it is not known."""
        searches = None if self._spark is None else malformed_searches(self._spark, query_id)
        return None if searches is None else [self._malformed(search) for search in searches]

    def jobs(self) -> list[dict[str, Any]]:
        """Return the pipelines and SQL statements of this process."""
        return jobs_view(self._jobs.descriptions(), self.histories.histories())

    def cluster(self) -> Cluster:
        """Return the cluster whose topics are shown.

        Raises:
            OptionsError: It is not known.
        """
        with self._lock:
            if self._cluster is None:
                kafka = self._kafka()
                if not kafka:
                    raise OptionsError("page", (_NO_CLUSTER,))
                self._cluster = Cluster(kafka)
            return self._cluster

    def reader(self, wanted: MessageFilter) -> TopicReader:
        """Return a reader of a topic's messages.

        Raises:
            MillraceError: The topic cannot be read, or not in this way.
        """
        return TopicReader(self.cluster().properties, wanted, shows_payloads=self._shows_payloads)

    def health(self, state: Health) -> dict[str, Any]:
        """Return the checks of doctor, plugins and versions."""
        kafka = self._kafka()
        servers = kafka.get("bootstrap.servers")
        command = f"millrace doctor --bootstrap-servers {servers}" if servers else "millrace doctor"
        return health_view(state, kafka, command)

    def _view(self, kind: str, query_id: str, make: Callable[[QueryHistory, float], dict[str, Any]]) -> str | None:
        def view() -> dict[str, Any] | None:
            history = self.histories.history(query_id)
            if history is None:
                return None
            return {**make(history, time.time()), "schema": schema_in_short(self._schemas.schema(query_id))}

        return self._rendered.text(f"{kind} {query_id}", view)

    def _malformed(self, search: MalformedSearch) -> dict[str, Any]:
        newest = TopicReader(search.kafka, search.wanted, shows_payloads=self._shows_payloads).newest()
        letters = {"columns": newest["columns"], "rows": newest["rows"]} if search.has_dead_letters else None
        reasons = [] if search.has_dead_letters else newest["malformedReasons"]
        return {"topic": search.wanted.topic, "letters": letters, "reasons": reasons, "searched": newest["searched"]}

    def _kafka(self) -> Mapping[str, str]:
        if self._cluster is not None:
            return self._cluster.properties
        kafka = next((job.kafka for job in self._jobs.descriptions() if job.kafka), None)
        if kafka is None and self._spark is not None:
            kafka = kafka_of_queries(self._spark)
        return {name.removeprefix(_PROPERTIES): value for name, value in (kafka or {}).items()}
