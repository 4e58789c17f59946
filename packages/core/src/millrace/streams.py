"""Readers of streams that millrace starts itself, with the names that Spark may ask of sources."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import DataStreamReader

SOURCE_EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
"""Spark's setting with which it refuses sources without names; without it, Spark refuses the names."""


def stream_reader(spark: SparkSession, name: str) -> DataStreamReader:
    """Return a reader of a stream, named if the session demands it.

    Args:
        spark: The session, classic or Connect.
        name: A text that tells the source from others of its query, and is the same after a restart.
    """
    reader = spark.readStream
    if str(spark.conf.get(SOURCE_EVOLUTION, "false")).lower() == "true":
        return reader.name(source_name(name))
    return reader


def source_name(text: str) -> str:
    """Return a name of letters, digits and underscores, which is all that Spark allows; different for each text."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", text)
    return name if name == text else f"{name}_{zlib.crc32(text.encode()):08x}"
