"""A Spark session in a thread of its own, with all its files in one folder."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import millrace
from millrace_cli.demo.jvm import end_jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_T = TypeVar("_T")

_LOG4J = """\
status = off
rootLogger.level = warn
rootLogger.appenderRef.errors.ref = errors
appender.errors.type = Console
appender.errors.name = errors
appender.errors.target = SYSTEM_ERR
appender.errors.layout.type = PatternLayout
appender.errors.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
appender.errors.filter.threshold.type = ThresholdFilter
appender.errors.filter.threshold.level = error
"""
QUICK_START = "-XX:TieredStopAtLevel=1"
"""Keep Java to its quick compiler: the demo ends before the optimizing one would pay off."""

_MAX_SOCKET_FOLDER_LENGTH = 55


class SparkThread:
    """A background thread with a Spark session, which ends with its Java process at the end of the ``with`` block.

    Spark finds a Python data source only in the thread that created the session, so all calls are made there.

    Args:
        folder: A folder for temporary files, which the caller deletes.
    """

    def __init__(self, folder: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="millrace-demo-spark")
        self.session: Future[SparkSession] = self._thread.submit(_start, folder)
        """The session, once it has started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.submit(_stop).result()
        self._thread.shutdown()

    def submit(self, call: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Make a call in the session's thread."""
        return self._thread.submit(call, *arguments)


def _start(folder: Path) -> SparkSession:
    log4j = folder / "log4j2.properties"
    log4j.write_text(_LOG4J)
    java = [
        f'"-Dlog4j2.configurationFile={log4j.as_uri()}"',
        f'"-Djava.io.tmpdir={folder}"',
        "-XX:-UsePerfData",  # its files would be outside that folder
        QUICK_START,
    ]
    return millrace.local_session(
        "millrace demo",
        config={
            "spark.driver.extraJavaOptions": " ".join(java),
            "spark.local.dir": str(folder),
            # The path of a Unix socket is limited to about 100 characters
            "spark.python.unix.domain.socket.enabled": str(len(str(folder)) <= _MAX_SOCKET_FOLDER_LENGTH).lower(),
            "spark.sql.streaming.numRecentProgressUpdates": "20",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )


def _stop() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session:
        session.stop()
    end_jvm()
