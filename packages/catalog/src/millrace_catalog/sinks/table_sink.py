"""Tables that can be kept in step with a topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from millrace.errors import MillraceError
from millrace_catalog.tables.table_schema import POSITION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_catalog.types import Schema

KEY = POSITION
"""The columns by which a target knows a row; every table of a topic has them."""


class TargetError(MillraceError):
    """A target could not be reached, or refused what was asked of it."""


class TableSink(ABC):
    """Where `sync` puts a table's rows. One query at a time writes into it.

    Both methods run on the driver, and are called again whenever a query starts anew: after a change of the table's
    columns, and after a process was killed in the middle of either of them.
    """

    @abstractmethod
    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Make the target if it is missing, or make it hold these columns; finish first what was left half done.

        Columns that it lacks come at its end, nullable; a column that is narrower becomes as wide as needed, and its
        rows keep their values. Columns that it has besides, and types that are wide enough, stay as they are.

        Args:
            spark: The session.
            schema: The columns of the rows that will come; those of `KEY` are among them.

        Raises:
            SchemaError: It cannot be made to hold them.
            MachineError: The session lacks what the target needs.
        """

    @abstractmethod
    def append(self, rows: DataFrame) -> None:
        """Add the rows of a micro-batch that the target does not have, told by the columns of `KEY`.

        Args:
            rows: A batch with the columns of the last `prepare`. Its rows can be read more than once, but may then
                be read from Kafka again.

        Raises:
            SchemaError: `prepare` was not called before.
        """
