"""The JVM of a session: Hadoop's file systems, and access for JDBC drivers.

PySpark offers neither through a public API. Its attributes ``_jvm`` and ``_jsparkSession`` are used here and nowhere
else in this package; ``tests/integration/test_jvm.py`` fails first when Spark changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery


def session_jvm(spark: SparkSession, purpose: str) -> Any:
    """Return py4j's view of a session's JVM.

    Args:
        spark: A session.
        purpose: What needs the JVM, for the error.

    Raises:
        MachineError: It is a session of Spark Connect, which has no JVM of its own.
    """
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        raise MachineError(
            f"{purpose} needs the session's own JVM, and a session of Spark Connect has none: run it where the driver "
            f"is, in a session created by SparkSession.builder.master(...)"
        )
    return jvm


def tracks_asynchronously(query: StreamingQuery) -> bool:
    """Return whether a query of a classic session has asynchronous progress tracking, which its options do not show."""
    execution: Any = query._jsq.streamingQuery()
    return bool(execution.getClass().getSimpleName() == "AsyncProgressTrackingMicroBatchExecution")


def check_stream(rows: DataFrame, output_mode: str) -> None:
    """Check a stream as Spark does when it starts; do nothing in a session of Spark Connect, whose server checks it.

    Args:
        rows: The stream.
        output_mode: Its output mode.

    Raises:
        AnalysisException: Spark cannot run it in this mode.
    """
    spark = rows.sparkSession
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None or spark.conf.get("spark.sql.streaming.unsupportedOperationCheck", "true") == "false":
        return
    mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, output_mode.capitalize())()
    plan = rows._jdf.queryExecution().analyzed()
    jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(plan, mode)


def optimize(rows: DataFrame) -> None:
    """Let Spark optimize a batch, which pushes filters to its sources; do nothing in a session of Spark Connect."""
    if getattr(rows.sparkSession, "_jvm", None) is not None:
        rows._jdf.queryExecution().optimizedPlan()


def require_own_driver(spark: SparkSession, purpose: str) -> None:
    """Check that callbacks of a stream run in this process, with all that they hold.

    Args:
        spark: A session.
        purpose: The work of the callbacks, for the error.

    Raises:
        MachineError: It is a session of Spark Connect, whose server runs them.
    """
    if getattr(spark, "_jvm", None) is None:
        raise MachineError(
            f"{purpose} takes each micro-batch in this process, and a session of Spark Connect runs streams on its "
            f"server: run it in batch mode, or where the driver is, in a session created by "
            f"SparkSession.builder.master(...)"
        )


def hadoop_configuration(spark: SparkSession, settings: Mapping[str, str]) -> Any:
    """Return a Hadoop configuration of a classic session, in its JVM, with further settings."""
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    for name, value in settings.items():
        configuration.set(name, value)
    return configuration


class HadoopFolder:
    """A folder in any of Hadoop's file systems; files in it are given by relative paths.

    The methods are those of ``org.apache.hadoop.fs.FileSystem``, with the session's Hadoop configuration.

    Args:
        spark: Session whose JVM reads and writes the files.
        path: Path or URL of the folder; it need not exist.

    Raises:
        MachineError: It is a session of Spark Connect.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._jvm = session_jvm(spark, f"folder {path}")
        self._root = path.rstrip("/") or "/"
        configuration = hadoop_configuration(spark, {})
        self._file_system = self._hadoop_path("").getFileSystem(configuration)

    def path(self, name: str) -> str:
        """Return the full path of a file, for Spark's readers and writers."""
        return f"{self._root}/{name}" if name else self._root

    def exists(self, name: str = "") -> bool:
        """Return whether a file or folder exists."""
        return bool(self._file_system.exists(self._hadoop_path(name)))

    def names(self, name: str = "") -> list[str]:
        """List the names in a folder, sorted, without hidden ones; empty when the folder does not exist."""
        if not self.exists(name):
            return []
        names = (status.getPath().getName() for status in self._file_system.listStatus(self._hadoop_path(name)))
        return sorted(file_name for file_name in names if not file_name.startswith(("_", ".")))

    def is_file(self, name: str) -> bool:
        """Return whether a path is a file, not a folder."""
        return bool(self._file_system.getFileStatus(self._hadoop_path(name)).isFile())

    def make(self, name: str) -> None:
        """Make a folder, unless it exists."""
        self._file_system.mkdirs(self._hadoop_path(name))

    def move(self, name: str, to: str) -> None:
        """Rename a file, atomically if the file system does.

        Raises:
            MachineError: The file system refused.
        """
        if not self._file_system.rename(self._hadoop_path(name), self._hadoop_path(to)):
            raise MachineError(f"{self.path(name)} could not be renamed to {self.path(to)}: the file system refused")

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with its contents; do nothing when it does not exist."""
        self._file_system.delete(self._hadoop_path(name), True)

    def read(self, name: str) -> str:
        """Read a text file."""
        stream = self._file_system.open(self._hadoop_path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a text file, or overwrite it."""
        stream = self._file_system.create(self._hadoop_path(name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def _hadoop_path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.path(name))
