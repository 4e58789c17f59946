"""The data source ``millrace``, which Spark finds by this module's name, without registration.

Spark imports this module in every session of every user, so it imports nothing but Spark's own base class.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

    from millrace.configuration import SinkConfig, SourceConfig


class DefaultSource(DataSource):
    """Kafka topics as a Spark data source, ``format("millrace")``."""

    def __init__(self, options: dict[str, str]) -> None:
        from millrace.configuration.build import check_options
        from millrace.spark.errors import user_errors
        from millrace.spark.options import connector_options

        super().__init__(options)
        self._is_planning = True
        with user_errors():
            # Spark does not tell yet whether this is a read or a write
            check_options(connector_options(options))

    def __getstate__(self) -> dict[str, object]:
        """Return the state that is sent to other processes, where nothing is planned any more."""
        return {**self.__dict__, "_is_planning": False}

    @classmethod
    def name(cls) -> str:
        """The name to give to ``format()``."""
        return "millrace"

    def schema(self) -> StructType | str:
        """Return the columns of a read for which the user gave none."""
        from millrace.spark.errors import user_errors
        from millrace.spark.schema import declared_schema, default_schema, distinct_columns

        with user_errors():
            config = self._source_config()
            return declared_schema(config) if config.options.columns else distinct_columns(default_schema(config))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Create the reader of a batch."""
        from millrace.spark.batch_reader import BatchReader, FilteringBatchReader

        config = self._source_config()
        reader = FilteringBatchReader if config.options.filter_pushdown else BatchReader
        return reader(config, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Create the reader of a stream."""
        from millrace.spark.failed_stream_reader import FailedStreamReader
        from millrace.spark.stream_reader import StreamReader

        try:
            return StreamReader(self._source_config(), schema)
        except Exception as error:
            # Whatever is raised here, Spark hides by an error of its own
            return FailedStreamReader(error)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Create the writer of a batch."""
        from millrace.spark.batch_writer import BatchWriter

        return BatchWriter(self._sink_config(), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802 - Spark's name
        """Create the writer of a micro-batch."""
        from millrace.spark.stream_writer import StreamWriter

        # Spark creates another writer to commit: what is written by then must not fail by a check of the topic
        return StreamWriter(self._sink_config(), schema, check=self._is_planning)

    def _source_config(self) -> SourceConfig:
        from millrace.configuration.build import configure_source
        from millrace.spark.errors import user_errors
        from millrace.spark.options import connector_options

        with user_errors():
            # Spark reads a pickled copy in processes that have not created it: who has created it, has warned
            return configure_source(connector_options(self.options), warns=self._is_planning)

    def _sink_config(self) -> SinkConfig:
        from millrace.configuration.build import configure_sink
        from millrace.spark.errors import user_errors
        from millrace.spark.options import check_progress_is_tracked, checkpoint_location, connector_options

        with user_errors():
            config = configure_sink(connector_options(self.options), warns=self._is_planning)
            check_progress_is_tracked(self.options, is_exactly_once=config.options.is_exactly_once)
        return dataclasses.replace(config, checkpoint_location=checkpoint_location(self.options))
