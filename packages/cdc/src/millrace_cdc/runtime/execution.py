"""Run a pipeline as one streaming query for all of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from millrace import metrics
from millrace.api.followers import follow_session
from millrace.api.query_lineage import Dataset, QueryLineage, describe_query
from millrace.contracts import PipelineSink, SchemaChangeType
from millrace.contracts.jobs import JOBS, JobDescription
from millrace.plugins.manager import PluginRef
from millrace_catalog.types.spark import to_spark
from millrace_cdc.definitions.pipeline_options import RouteMode, SchemaChangeBehavior
from millrace_cdc.definitions.rules import RouteRule, TransformRule, rules_digest
from millrace_cdc.definitions.sink_retries import SinkRetryOptions
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.routing.router import Router
from millrace_cdc.runtime.dead_letters import check_collector
from millrace_cdc.runtime.description import counts_of, describe_pipeline
from millrace_cdc.runtime.extra_columns import HEADERS_COLUMN
from millrace_cdc.runtime.initial_state import initial_state
from millrace_cdc.runtime.metrics import PipelineMetrics, pipeline_metrics
from millrace_cdc.runtime.micro_batch import MicroBatches
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest, check_pausing
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.progress import PipelineProgress
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.sink_retries import SinkRetries
from millrace_cdc.runtime.source import MessageSource
from millrace_cdc.runtime.state_store import StateStore
from millrace_cdc.runtime.time_columns import has_times
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.transforms.transform import Transforms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery


_SAME_TASKS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
}
"""Settings by which a repeated micro-batch has the same tasks, for which exactly-once asks."""


@dataclass(frozen=True)
class PipelineJob:
    """A pipeline, ready to run.

    Attributes:
        source: The source.
        sink: The sink.
        routes: The routes, in order.
        transforms: The transforms, in order.
        route_mode: Whether a table takes all routes that match it, or the first one.
        behavior: ``schema.change.behavior``.
        accepted: The types of schema changes that the sink gets.
        name: The name of the query.
        collector: Collects malformed messages that are skipped; None where nothing does.
        settings: Settings of the query's Spark session.
        pauses: Whether a table whose columns cannot change as they need is paused, instead of the pipeline's end.
        malformed_table: The id of the sink's table that malformed messages go to; None where there is none.
        max_retries: How often a micro-batch is tried again while the sink is away.
        functions: Functions that transforms call.
    """

    source: MessageSource
    sink: PipelineSink
    accepted: frozenset[SchemaChangeType]
    routes: Sequence[RouteRule] = ()
    transforms: Sequence[TransformRule] = ()
    route_mode: RouteMode = "ALL_MATCH"
    behavior: SchemaChangeBehavior = "lenient"
    name: str | None = None
    collector: PluginRef | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    pauses: bool = False
    malformed_table: str | None = None
    max_retries: int = SinkRetryOptions.max_retries
    functions: tuple[UserFunction, ...] = ()

    @property
    def evolution_settings(self) -> EvolutionSettings:
        """The settings of schema evolution."""
        parser, sink = self.source.parser_settings, self.sink
        return EvolutionSettings(
            self.behavior,
            self.accepted,
            sink.capabilities.schema_changes,
            parser.strategy,
            parser.max_columns,
            lambda before, after: sink.can_widen(to_spark(before), to_spark(after)),
            self.rules,
            sink.distinguishes_case,
        )

    @property
    def rules(self) -> str:
        """The digest of all that decides on the sink's tables, beside the source's."""
        changes = sorted(self.accepted), sorted(self.sink.capabilities.schema_changes)
        functions = [f"{function.name.upper()} {function.result}" for function in self.functions]
        settings = (self.malformed_table, self.behavior, *changes, *functions)
        return rules_digest(self.routes, self.transforms, self.route_mode, *settings)


class RunningPipeline:
    """A pipeline that runs.

    Attributes:
        query: Its streaming query.
        sink: Its sink, as its options made it.
    """

    def __init__(
        self, query: StreamingQuery, batches: MicroBatches, sink: PipelineSink, kafka: Mapping[str, str] | None = None
    ) -> None:
        self.query = query
        self.sink = sink
        self._batches = batches
        self._kafka = kafka or {}

    @property
    def progress(self) -> PipelineProgress:
        """The progress of the pipeline since this start."""
        return self._batches.progress

    @property
    def metrics(self) -> PipelineMetrics:
        """The metrics of the pipeline and of each of its tables; ``to_dict()`` has them by the names of the house."""
        return pipeline_metrics(self.progress, metrics(self.query).sources)

    def describe(self) -> JobDescription:
        """Describe it for pages that show jobs."""
        return describe_pipeline(self.query, self.progress, self._kafka)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, at most some seconds; return whether it has.

        Raises:
            StreamingQueryException: It has failed.
        """
        return bool(self.query.awaitTermination() or True) if timeout is None else self.query.awaitTermination(timeout)

    def stop(self) -> None:
        """Stop it. A micro-batch under way is repeated at the next start."""
        self.query.stop()


def start_pipeline(
    job: PipelineJob,
    spark: SparkSession,
    checkpoint_location: str,
    *,
    once: bool = False,
    interval: str | None = None,
    request: PauseRequest = NO_REQUEST,
) -> RunningPipeline:
    """Start a pipeline.

    Args:
        job: The pipeline.
        spark: A classic session.
        checkpoint_location: Location of its checkpoint, in any of Hadoop's file systems.
        once: Whether to end with the messages that there are now.
        interval: How often to look for messages, such as ``10 seconds``. By default at once.
        request: Tables to pause, and paused ones that go on.

    Raises:
        MillraceError: Options or schemas do not allow it, or Kafka cannot be reached.
    """
    session = pipeline_session(spark, {**_SAME_TASKS, **job.settings})
    follow_session(session)
    job.sink.check(session)
    if job.pauses or request.pause:
        check_pausing(job.collector)
    parser, messages = _messages(job, session)
    transforms = RowTransforms(session)
    router = Router(job.routes, job.route_mode)
    planner = TablePlanner(router, Transforms(job.transforms, job.functions), transforms, job.malformed_table)
    settings = job.evolution_settings
    store = StateStore(session, checkpoint_location)
    if store.load_initial() is None:
        evolution = SchemaEvolution(settings, planner, pauses=job.pauses)
        store.save_initial(initial_state(job.source, parser, evolution).to_text())
    states, limits = PipelineStates(store, settings, planner), job.source.malformed_limits
    retries = SinkRetries(job.max_retries, partial(_has_running_query, session))
    batches = MicroBatches(parser, planner, settings, job.sink, states, transforms, limits, retries, request)
    writer = messages.writeStream.foreachBatch(batches.process)
    writer = writer.option("checkpointLocation", checkpoint_location)
    if job.name is not None:
        writer = writer.queryName(job.name)
    if once:
        writer = writer.trigger(availableNow=True)
    elif interval is not None:
        writer = writer.trigger(processingTime=interval)
    lineage = QueryLineage("PIPELINE", outputs=partial(_datasets, job.sink, batches.progress))
    if job.name is not None:
        describe_query(job.name, lineage)
    query = writer.start()
    describe_query(str(query.id), lineage)
    running = RunningPipeline(query, batches, job.sink, job.source.client)
    JOBS.add(running, {str(query.id): partial(counts_of, batches.progress)})
    return running


def _datasets(sink: PipelineSink, progress: PipelineProgress) -> list[Dataset]:
    named = [sink.dataset(table) for table in sorted(progress.sink_tables)]
    return [Dataset(*dataset) for dataset in named if dataset is not None]


def _has_running_query(session: SparkSession) -> bool:
    """Return whether a query of a session runs, and nobody stops it: the pipeline is the only one of its session."""
    try:
        return any(query.isActive for query in session.streams.active)
    except (Py4JError, PySparkException, OSError):
        # Java has ended, or is about to
        return False


def _messages(job: PipelineJob, session: SparkSession) -> tuple[ParserSettings, DataFrame]:
    """Return the stream of messages, and the settings of their parser."""
    settings = replace(
        job.source.parser_settings.for_sink(job.sink.capabilities),
        has_times=has_times(session),
        pauses=job.pauses,
        malformed_table=job.malformed_table,
    )
    if job.collector is None:
        return settings, job.source.read(session)
    check_collector(job.collector, job.source.client, job.source.reads)
    messages = job.source.read_with_headers(session)
    has_headers = HEADERS_COLUMN in messages.columns
    return replace(settings, collector=job.collector, client=job.source.client, has_headers=has_headers), messages


def pipeline_session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with the settings of another, and some of its own."""
    session = spark.newSession()
    # Not by the statement SET: it is a query, for which a new JVM needs a second
    for name, value in {**spark.conf.getAll, **settings}.items():
        if name.startswith("spark.sql.") and session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session
