"""The interface of tables that `replicate` fills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from millrace.errors import MillraceError
from millrace_catalog.tables.table_schema import POSITION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_catalog.types import Schema

KEY = POSITION
"""Columns that identify a row in a sink; every table of a topic has them."""


class TableSinkError(MillraceError):
    """A sink or its database could not be reached, or refused an operation."""


class ReplicationSink(ABC):
    """A table that `replicate` writes into. One query at a time may write into a sink.

    Both methods run on the driver, and are called again whenever a query restarts: after a change of the table's
    columns, and after a process was killed in the middle of either of them.
    """

    @abstractmethod
    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Create the sink if it does not exist, or change it to hold these columns.

        A change that a killed process left half done is finished first. Missing columns are added at the end, nullable;
        narrower columns become as wide as needed, and their rows keep their values. Other columns and wider types stay.

        Args:
            spark: The session.
            schema: Columns of the rows to append, those of `KEY` included.

        Raises:
            SchemaError: The sink cannot hold the columns.
            MachineError: The session lacks what the sink needs.
        """

    @abstractmethod
    def append(self, rows: DataFrame) -> None:
        """Append the rows of a micro-batch that the sink does not have yet, by the columns of `KEY`.

        Args:
            rows: A batch with the columns of the last `prepare`. Reading it a second time may read Kafka again.

        Raises:
            SchemaError: `prepare` has not been called.
        """
