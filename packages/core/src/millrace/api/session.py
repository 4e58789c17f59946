"""A Spark session for laptops, notebooks and tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from millrace import pyspark_internals
from millrace.api.spark_home import spark_home_without_archive
from millrace.api.startup_log import quiet_startup, with_error_log
from millrace.api.terminal_progress import show_progress
from millrace.api.tracebacks import install_short_tracebacks
from millrace.spark_python import names_python, use_this_python

REDACTION_REGEX = (
    "(?i)secret|password|token|access[.]?key|jaas|private.?key|[.]key([.]pem)?$|passphrase|credential|user[.-]info|"
    "oauthbearer[.](config|extensions)"
)
"""Options that Spark redacts in plans: Spark's own default, and the secrets of Kafka that this leaves out."""

CHECKPOINT_FILE_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""Writes a checkpoint's files without a process of the system for each, as the default does on a local disk."""

UNLIMITED_BATCH_BYTES = str(2**31 - 1)
"""The size at which Spark stops adding rows to an Arrow batch for Python, in bytes: this one value means no limit.

With any other, Spark computes the size of all columns after each row, which takes as long as all else that the JVM does
for a row that is written. The number of rows limits batches all the same.
"""


def local_session(
    name: str = "millrace",
    *,
    cores: int | None = None,
    config: Mapping[str, str] | None = None,
    progress: bool = True,
) -> SparkSession:
    """Create or get a Spark session on this machine, with settings that suit millrace. None of them is required.

    Workers use this process's Python; those of a cluster the one that ``PYSPARK_PYTHON`` names, if it is set. The time
    zone is UTC, and there are few shuffle partitions. Unix sockets to the Python workers and a faster checkpoint writer
    shorten small micro-batches. Arrow batches are limited only by their number of rows, which makes writes faster. A
    repeated micro-batch is divided into the same tasks, which exactly-once requires. Unless ``spark.master`` is a
    cluster, only loopback addresses are used. Spark logs errors only, from its start, and redacts secrets in plans and
    logs. Uncaught errors are shown in a few lines (`install_short_tracebacks`). On a terminal, a line for each
    streaming query shows its rows, their rate and the lag. The session becomes the active session of this thread
    (`set_active_session`).

    Args:
        name: The application's name.
        cores: Cores to use; all by default.
        config: Spark settings, which override these.
        progress: Whether a terminal shows the progress of queries while they run. A prompt of Python and a notebook
            never do.
    """
    used = cores or os.cpu_count() or 1
    settings = with_error_log(session_settings(used, config or {}))
    # The Java process hands its environment to the Python workers
    if _is_local(settings) or not names_python(os.environ):
        use_this_python()
    builder = SparkSession.builder.appName(name).master(f"local[{used}]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with quiet_startup(), spark_home_without_archive(settings):
        spark = builder.getOrCreate()
    set_active_session(spark)
    pyspark_internals.mark_callbacks_of_streams()
    install_short_tracebacks(spark)
    if progress:
        show_progress(spark)
    return spark


def set_active_session(spark: SparkSession, properties: Any | None = None) -> None:
    """Let this thread write with ``format("millrace")``.

    Only the thread that has created a classic session can write with a Python data source. Other threads fail with
    DATA_SOURCE_NOT_FOUND unless they call this function first::

        with ThreadPoolExecutor(8, initializer=millrace.set_active_session, initargs=(spark,)) as pool:
            ...

    `local_session`, `KafkaSink` and SQL call it themselves. Inside ``foreachBatch``, and so in pipelines, Spark has set
    the session. Threads that its callback starts need the properties of the callback's own thread too, or their writes
    belong to no micro-batch, and exactly-once does not recognize a repeated one. Start them in each callback::

        of_callback = (batch.sparkSession, millrace.thread_properties(batch.sparkSession))
        with ThreadPoolExecutor(8, initializer=millrace.set_active_session, initargs=of_callback) as pool:
            ...

    Args:
        spark: The session. Spark Connect sessions do not need this.
        properties: What `thread_properties` has returned in the thread whose work this one does.
    """
    pyspark_internals.set_thread_properties(spark, properties)
    pyspark_internals.set_active_session(spark)


def thread_properties(spark: SparkSession) -> Any | None:
    """Return a copy of the properties that Spark keeps for this thread, for `set_active_session` in another thread.

    They say to which micro-batch, job group and scheduler pool the jobs of a thread belong.

    Args:
        spark: The session.

    Returns:
        None for a Spark Connect session, whose threads have none.
    """
    return pyspark_internals.thread_properties(spark)


def session_settings(cores: int, config: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of `local_session`.

    Args:
        cores: Number of shuffle partitions.
        config: Spark settings that win.
    """
    is_local = _is_local(config)
    # Executors on other machines connect to the driver
    loopback = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"} if is_local else {}
    # Executors on other machines may get this package after their daemon has started
    daemon = {"spark.python.daemon.module": "millrace.worker_daemon"} if is_local else {}
    return {
        **loopback,
        **daemon,
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.redaction.regex": REDACTION_REGEX,
        "spark.sql.execution.arrow.maxBytesPerBatch": UNLIMITED_BATCH_BYTES,
        # A repeated micro-batch has the same tasks, whatever the number of cores: exactly-once checks that
        "spark.sql.adaptive.streaming.stateless.enabled": "false",
        # For the option scan.filter-pushdown
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILE_MANAGER,
        "spark.sql.shuffle.partitions": str(cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **config,
    }


def _is_local(settings: Mapping[str, str]) -> bool:
    return settings.get("spark.master", "local").startswith("local")
