"""The JVM of a session, for what Spark offers there only: Hadoop's file systems and JDBC drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def jvm_of(spark: SparkSession, what: str) -> Any:
    """The JVM's view of py4j.

    Args:
        spark: The session.
        what: What needs it, for the error.

    Raises:
        MachineError: The session is one of Spark Connect, which shows no JVM.
    """
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        raise MachineError(
            f"{what} needs the session's own JVM, and a session of Spark Connect shows none: run it where the driver "
            f"is, in a session made by SparkSession.builder.master(...)"
        )
    return jvm


def hadoop_configuration(spark: SparkSession) -> Any:
    """The settings of Hadoop's file systems, with those of the session."""
    return spark._jsparkSession.sessionState().newHadoopConf()
