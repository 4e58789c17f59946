"""Run a pipeline for the command line: its session, its progress and its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from millrace.failures import sentence_of
from millrace.wording import counted
from millrace.worker_tracebacks import hidden_worker_tracebacks
from millrace_cdc.pipeline import Pipeline
from millrace_cdc.runtime.task_reports import describe_skipped
from millrace_cli.errors import CommandError

if TYPE_CHECKING:
    from millrace_cdc.definitions.model import PipelineDefinition
    from millrace_cdc.runtime.execution import RunningPipeline
    from millrace_cdc.runtime.progress import PipelineProgress

_INTERRUPTED = 130
_REPORT_INTERVAL_S = 5


def run_definition(
    definition: PipelineDefinition,
    checkpoint: str,
    conf: Mapping[str, str],
    *,
    once: bool,
    pause_tables: Iterable[str] = (),
    resume_tables: Iterable[str] = (),
    ui_port: int | None = None,
) -> None:
    """Run a pipeline until it ends or is interrupted, and write its progress.

    Args:
        definition: The pipeline.
        checkpoint: Location of its checkpoint.
        conf: Settings of Spark.
        once: Whether to end with the messages that there are now.
        pause_tables: Ids of tables to pause.
        resume_tables: Ids of paused tables that go on.
        ui_port: The port of the live page; None for no page.

    Raises:
        CommandError: The query has failed.
        MillraceError: The pipeline cannot run.
        Exit: It was interrupted.
    """
    from pyspark.errors import PySparkException

    from millrace import local_session, ui

    with hidden_worker_tracebacks():
        spark = local_session("millrace run", config={"spark.log.level": "OFF", **conf}, progress=False)
    page = None
    try:
        if ui_port is not None:
            page = ui(spark, port=ui_port)
            click.echo(f"the live page is at {page.url}")
        running = Pipeline(definition).run(
            spark,
            checkpoint_location=checkpoint,
            once=once,
            pause_tables=pause_tables,
            resume_tables=resume_tables,
        )
        _follow(running)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(_INTERRUPTED) from None
    except PySparkException as error:
        raise CommandError(sentence_of(error)) from error
    finally:
        if page is not None:
            page.close()
        for query in spark.streams.active:
            query.stop()
        spark.stop()


def _follow(running: RunningPipeline) -> None:
    """Write the progress whenever there is some, until the pipeline ends."""
    shown = ""
    ended = False
    while not ended:
        ended = running.await_termination(_REPORT_INTERVAL_S)
        line = describe_progress(running.progress, behind=running.metrics.pending_records, has_ended=ended)
        if line != shown:
            click.echo(line)
        shown = line


def describe_progress(progress: PipelineProgress, *, behind: int | None = None, has_ended: bool = False) -> str:
    """Return a line with the figures of a pipeline since its start.

    Args:
        progress: The figures.
        behind: The number of messages that are yet to be read; None where it is unknown.
        has_ended: Whether the pipeline has ended.
    """
    texts = _figures(progress) or ["no changes" if has_ended else "the pipeline runs, no changes yet"]
    writing = progress.writing
    if writing is not None and writing.tables > 1:
        texts.append(f"micro-batch {writing.batch}: {len(writing.written):,} of {writing.tables:,} tables written")
    if progress.skipped:
        texts.append(f"skipped: {describe_skipped(progress.skipped)}")
    if progress.paused:
        messages = counted(progress.collected.total(), "message")
        texts.append(f"paused: {', '.join(progress.paused)} ({messages} collected)")
    return ", ".join([*texts, f"{behind:,} behind"] if behind else texts)


def _figures(progress: PipelineProgress) -> list[str]:
    """Return the numbers with their nouns; none before there is any."""
    counts = {
        "table": len(progress.tables),
        "change": sum(table.rows for table in progress.tables.values()),
        "schema change": progress.schema_changes,
        "malformed message": progress.malformed,
    }
    return [counted(number, noun) for noun, number in counts.items()] if any(counts.values()) else []
