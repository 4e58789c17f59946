"""Pipelines as users run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from millrace.options.parser import OptionParser
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace.plugins.manager import PluginRef
from millrace_cdc.connectors.loading import make_sink, make_source
from millrace_cdc.definitions.dirty_data import COLLECTOR, TABLE, TableCollectorOptions, collector_options
from millrace_cdc.definitions.model import PipelineDefinition
from millrace_cdc.definitions.pipeline_options import PipelineOptions
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.plans.model import PipelinePlan
from millrace_cdc.plans.planner import plan_pipeline
from millrace_cdc.reader.reader import read_pipeline, read_pipeline_file
from millrace_cdc.runtime.execution import PipelineJob, RunningPipeline, start_pipeline
from millrace_cdc.runtime.paused_tables import PauseRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Pipeline:
    """A pipeline of change data.

        Pipeline.from_yaml(text).run(spark, checkpoint_location="/checkpoints/shop").await_termination()

    Args:
        definition: Its definition.
    """

    def __init__(self, definition: PipelineDefinition) -> None:
        self.definition = definition

    @classmethod
    def from_yaml(
        cls,
        text: str,
        *,
        variables: Mapping[str, str] | None = None,
        secret_values: Mapping[str, str] | None = None,
    ) -> Self:
        """Make a pipeline of its YAML.

        Args:
            text: The YAML.
            variables: Values of ``${name}``, by name.
            secret_values: Values of ``${secret_values.name}``, by name.

        Raises:
            PipelineError: Something is wrong; every problem is in it, with line and column.
        """
        return cls(read_pipeline(text, variables=variables, secret_values=secret_values))

    @classmethod
    def from_file(
        cls,
        path: Path | str,
        *,
        variables: Mapping[str, str] | None = None,
        secret_values: Mapping[str, str] | None = None,
    ) -> Self:
        """Make a pipeline of a file, as `from_yaml` does.

        Raises:
            PipelineError: Something is wrong, or the file cannot be read.
        """
        return cls(read_pipeline_file(Path(path), variables=variables, secret_values=secret_values))

    def run(
        self,
        spark: SparkSession,
        *,
        checkpoint_location: str,
        once: bool = False,
        interval: str | None = None,
        pause_tables: Iterable[str] = (),
        resume_tables: Iterable[str] = (),
    ) -> RunningPipeline:
        """Start the pipeline as one streaming query.

        Args:
            spark: A classic session; its settings hold where the definition says nothing.
            checkpoint_location: Location of the pipeline's checkpoint, in any of Hadoop's file systems. It holds the
                offsets and the schemas of all tables; each pipeline needs its own.
            once: Whether to end with the messages that there are now, as ``execution.runtime-mode: BATCH`` does.
            interval: How often to look for messages, such as ``10 seconds``. By default at once.
            pause_tables: Ids of the source's tables whose messages only go to the collector of dirty data from the next
                micro-batch on, also after a restart.
            resume_tables: Ids of such tables that go on with the next micro-batch.

        Raises:
            OptionsError: Options are wrong, or not supported.
            SchemaError: The first schemas and the rules do not go together.
            ClientError: Kafka refused, or could not be reached.
        """
        options = self.definition.options
        once = once or options.runtime_mode == "BATCH"
        request = PauseRequest(frozenset(pause_tables), frozenset(resume_tables))
        return start_pipeline(self._job(), spark, checkpoint_location, once=once, interval=interval, request=request)

    def plan(
        self, spark: SparkSession | Callable[[], SparkSession] | None = None, *, checkpoint_location: str | None = None
    ) -> PipelinePlan:
        """Plan a run: look at messages, and find tables, columns, targets and problems. Nothing is changed.

        Args:
            spark: A classic session, or a function that returns one. It is needed for expressions of transforms, and
                where there is a checkpoint; by default `millrace.local_session` is called then.
            checkpoint_location: Location of the checkpoint that a run would have; without one, it is the plan of a
                first run.

        Raises:
            OptionsError: Options are wrong, or not supported.
            ClientError: Kafka refused, or could not be reached.
        """
        definition = self.definition
        session = spark if callable(spark) else partial(_session, spark)
        return plan_pipeline(self._job(), definition.source.type, definition.sink.type, session, checkpoint_location)

    def _job(self) -> PipelineJob:
        definition, options = self.definition, self.definition.options
        return PipelineJob(
            make_source(definition.source),
            make_sink(definition.sink),
            definition.schema_changes,
            definition.routes,
            definition.transforms,
            options.route_mode,
            options.schema_change_behavior,
            definition.name,
            _collector(options),
            _settings(options),
            options.table_failure_behavior == "pause",
            _malformed_table(options),
            definition.sink.retries.max_retries,
            tuple(map(UserFunction.of, definition.functions)),
        )


def _session(spark: SparkSession | None) -> SparkSession:
    from millrace import local_session

    return local_session("millrace plan", progress=False) if spark is None else spark


def _settings(options: PipelineOptions) -> dict[str, str]:
    """Return the settings of Spark that options stand for."""
    settings = {
        "spark.sql.session.timeZone": options.time_zone,
        "spark.sql.shuffle.partitions": None if options.parallelism is None else str(options.parallelism),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _collector(options: PipelineOptions) -> PluginRef | None:
    name = options.dirty_collector
    if name is None or name == TABLE:
        return None
    return plugin_manager().refer(DEAD_LETTER_COLLECTOR, name, _collector_options(name, options))


def _malformed_table(options: PipelineOptions) -> str | None:
    if options.dirty_collector != TABLE:
        return None
    parsed: TableCollectorOptions = _collector_options(TABLE, options)
    return parsed.table


def _collector_options(name: str, options: PipelineOptions) -> Any:
    prefix = f"{COLLECTOR}."
    texts = {prefix + option: text for option, text in options.dirty_collector_options if option != "type"}
    parser = OptionParser("pipeline", texts)
    parsed = parser.take(collector_options(name), prefix)
    parser.finish()
    return parsed
