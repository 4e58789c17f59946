"""Spark for the demo, from one thread, with everything it leaves behind in one folder."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import millrace

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
"""Keeps Java to its quick compiler: the demo is over before the better one would pay."""

_LONGEST_SOCKET_FOLDER = 55
_JAVA_END_SECONDS = 20.0


class SparkThread:
    """Starts Spark in the background at once, and ends it and its Java with the ``with`` block.

    Spark finds a Python data source only from the thread that made the session, so that thread makes all calls.

    Args:
        folder: An empty folder for temporary files, which is the caller's to delete.
    """

    def __init__(self, folder: Path) -> None:
        self._home_before = os.environ.get("SPARK_HOME")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="millrace-demo-spark")
        self.session: Future[SparkSession] = self._thread.submit(_start, folder)
        """The session, when it is there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.submit(_end).result()
        self._thread.shutdown()
        if self._home_before is None:
            os.environ.pop("SPARK_HOME", None)

    def submit(self, call: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Make a call in the thread that has the session."""
        return self._thread.submit(call, *arguments)


def _start(folder: Path) -> SparkSession:
    os.environ.setdefault("SPARK_HOME", str(_spark_home(folder / "spark")))
    log4j = folder / "log4j2.properties"
    log4j.write_text(_LOG4J)
    java = [
        f'"-Dlog4j2.configurationFile={log4j.as_uri()}"',
        f'"-Djava.io.tmpdir={folder}"',
        "-XX:-UsePerfData",  # its files are not kept in that folder
        QUICK_START,
    ]
    return millrace.local_session(
        "millrace demo",
        config={
            "spark.driver.extraJavaOptions": " ".join(java),
            "spark.local.dir": str(folder),
            # The path of a Unix socket may have about 100 characters
            "spark.python.unix.domain.socket.enabled": str(len(str(folder)) <= _LONGEST_SOCKET_FOLDER).lower(),
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.streaming.numRecentProgressUpdates": "20",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
    )


def _spark_home(home: Path) -> Path:
    """Make a Spark that has no ``pyspark.zip``.

    Python workers load PySpark from that archive, and compile it anew in each process, which takes half a second.
    Without it they take the installed PySpark, since they run this process's Python.
    """
    import pyspark

    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "python":
            (home / part.name).symlink_to(part)
    return home


def _end() -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session:
        session.stop()
    # No public call ends the Java that PySpark started; it would outlive this process for a moment, and its files too
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    java: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if gateway is None or java is None:
        return
    with contextlib.suppress(Exception):
        gateway.shutdown()
    if java.stdin:
        with contextlib.suppress(OSError):
            java.stdin.close()
    try:
        java.wait(_JAVA_END_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
