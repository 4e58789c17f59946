"""The one Spark session in which both connectors are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import millrace
from bench.connector_jars import connector_jars, format_jars, iceberg_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = 2
KEPT_PROGRESS = 1000
"""Number of micro-batches whose progress a query keeps."""


def start_session() -> SparkSession:
    """Start a session with millrace's settings and the jars of Spark's own connector and formats, and of Iceberg."""
    return millrace.local_session(
        "millrace bench",
        cores=CORES,
        config={
            "spark.jars": ",".join(map(str, [*connector_jars(), *format_jars().values(), *iceberg_jars()])),
            "spark.driver.memory": "2g",
            "spark.log.level": "OFF",
            "spark.sql.streaming.numRecentProgressUpdates": str(KEPT_PROGRESS),
        },
    )
