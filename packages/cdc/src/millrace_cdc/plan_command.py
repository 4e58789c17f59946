"""Plan a pipeline for the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from millrace.worker_tracebacks import hidden_worker_tracebacks
from millrace_cdc.definition_files import read_definition
from millrace_cdc.pipeline import Pipeline
from millrace_cdc.plans.text import render_plan
from millrace_cli.planned_files import PlannedFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_cdc.definitions.model import PipelineDefinition


def plan_file(file: PlannedFile) -> bool:
    """Write the plan of a pipeline's file for ``millrace plan``, and return whether a run would end well.

    Raises:
        PipelineError: The definition is wrong, or a file cannot be read.
        MillraceError: As `plan_definition`.
    """
    definition = read_definition(file.path, list(file.settings.items()), file.secrets)
    return plan_definition(
        definition, file.checkpoint or f"{file.path.resolve()}.checkpoint", file.conf, as_json=file.as_json
    )


def plan_definition(definition: PipelineDefinition, checkpoint: str, conf: Mapping[str, str], *, as_json: bool) -> bool:
    """Write the plan of a pipeline, and return whether a run would end well.

    Args:
        definition: The pipeline.
        checkpoint: Location of the checkpoint that a run would have.
        conf: Settings of Spark, where it is needed.
        as_json: Whether to write JSON.

    Raises:
        MillraceError: The source or the sink cannot be asked.
    """
    started: list[SparkSession] = []

    def session() -> SparkSession:
        from millrace import local_session

        if not started:
            from pyspark.logger import PySparkLogger

            # It writes each error of an expression, which is among the plan's problems, as a line of JSON
            PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
            with hidden_worker_tracebacks():
                started.append(
                    local_session("millrace plan", config={"spark.log.level": "OFF", **conf}, progress=False)
                )
        return started[0]

    try:
        plan = Pipeline(definition).plan(session, checkpoint_location=checkpoint)
    finally:
        for spark in started:
            spark.stop()
    click.echo(json.dumps(plan.to_json(), indent=2) if as_json else render_plan(plan))
    return not plan.problems
