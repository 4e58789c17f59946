"""Streaming writes, as Spark calls them."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceStreamArrowWriter

from millrace.spark.writing import Writing


class StreamWriter(Writing, DataSourceStreamArrowWriter):
    """Appends the rows of each micro-batch to a topic. Spark makes one for every micro-batch.

    In output mode complete every micro-batch appends the whole result anew: a topic is a log. Spark's own connector
    does the same.
    """
