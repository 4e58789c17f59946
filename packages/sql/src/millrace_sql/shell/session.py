"""The Spark session and the table environment of a shell or a script."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from millrace.api.session import REDACTION_REGEX, local_session
from millrace.api.ui import ui
from millrace_sql.shell.spark_startup import silence_loggers, startup_output_held_back
from millrace_sql.shell.start import Start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_sql.environment import TableEnvironment


class ShellSession(NamedTuple):
    """A table environment, and the output of its Spark.

    Attributes:
        environment: The environment.
        drop_output: Drops what Spark's processes write from then on: to be called before streams are interrupted.
        page_url: The address of the live page; None without one.
    """

    environment: TableEnvironment
    drop_output: Callable[[], None]
    page_url: str | None


@contextmanager
def environment_for(start: Start, *, dry_run: bool = False) -> Iterator[ShellSession]:
    """Start Spark, and stop it at the end.

    Args:
        start: What the command line gives.
        dry_run: Whether kept definitions are only read.

    Raises:
        MachineError: Spark does not start.
        MillraceError: A setting is wrong, or kept definitions cannot be read.
    """
    from millrace_sql.environment import TableEnvironment

    silence_loggers()
    # An error ends as a sentence of the shell; Spark logs the same with all frames, several times
    with startup_output_held_back() as drop_output:
        spark = _session({"spark.log.level": "OFF", **start.conf})
    # Spark's own handler cancels the jobs of all queries, also of those that go on behind the one that Ctrl-C ends
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pages = ExitStack()
    try:
        page = None if start.ui_port is None else pages.enter_context(ui(spark, port=start.ui_port))
        environment = TableEnvironment(
            spark,
            catalog_store=start.catalog_store,
            config=start.settings,
            secret_values=start.secret_values,
            variables=start.variables,
            dry_run=dry_run,
        )
        yield ShellSession(environment, drop_output, None if page is None else page.url)
    finally:
        pages.close()
        drop_output()
        for query in spark.streams.active:
            query.stop()
        spark.stop()


def _session(conf: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return local_session("millrace sql", config=conf, progress=False)
    # spark-submit has started the JVM, for a master and with settings of its own
    needed = {"spark.redaction.regex": REDACTION_REGEX, "spark.sql.adaptive.streaming.stateless.enabled": "false"}
    builder = SparkSession.builder.appName("millrace sql")
    for key, value in {**needed, **conf}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
