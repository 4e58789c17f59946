"""A stream reader that stands for one that could not be created."""

from __future__ import annotations

from typing import Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow


class FailedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Fails at the first call, with the error for which no reader could be created.

    Spark stops the reader of a query even if creating it has failed. That is an error in turn ("cannot access local
    variable 'reader'"), and the only one that the user sees.

    Args:
        error: Why there is no reader.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error

    def initialOffset(self) -> NoReturn:  # noqa: N802 - Spark's name
        """Raise the error."""
        raise self._error

    def getDefaultReadLimit(self) -> NoReturn:  # noqa: N802 - Spark's name
        """Raise the error."""
        raise self._error

    def prepareForTriggerAvailableNow(self) -> NoReturn:  # noqa: N802 - Spark's name
        """Raise the error."""
        raise self._error

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> NoReturn:  # noqa: N802 - Spark's name
        """Raise the error."""
        raise self._error

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> NoReturn:
        """Raise the error."""
        raise self._error

    def read(self, partition: Any) -> NoReturn:
        """Raise the error."""
        raise self._error

    def stop(self) -> None:
        """Do nothing: there is nothing to release."""
