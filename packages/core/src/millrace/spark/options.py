"""Separate the options of a data source from Spark's own."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError

_CHECKPOINT_LOCATION = "checkpointlocation"
_ASYNC_PROGRESS = "asyncprogresstrackingenabled"
_ASYNC_PROGRESS_OPTIONS = {
    _ASYNC_PROGRESS,
    "asyncprogresstrackingcheckpointintervalms",
    "_asyncprogresstrackingoverridesinksupportcheck",
}
_SPARK_OPTIONS = {_CHECKPOINT_LOCATION, "queryname", *_ASYNC_PROGRESS_OPTIONS}
"""Options of a DataStreamWriter that Spark uses itself, and passes to the data source nevertheless."""

_NO_TABLES = (
    "Spark does not keep the options of a catalog's tables for data sources in Python; use CREATE TEMPORARY VIEW ... "
    "USING millrace OPTIONS (...)"
)


def connector_options(options: Mapping[str, object]) -> dict[str, str]:
    """Select the options that are for millrace, as text.

    Raises:
        OptionsError: There are none, or they belong to a table of Spark's catalog, which would lose them.
    """
    if "provider" in options:
        raise OptionsError("millrace", (f"CREATE TABLE ... USING millrace: {_NO_TABLES}",))
    if not options:
        problem = (
            f"option 'properties.bootstrap.servers' is required, and there is none. If this is a table: {_NO_TABLES}"
        )
        raise OptionsError("millrace", (problem,))
    return {name: str(value) for name, value in options.items() if name.lower() not in _SPARK_OPTIONS}


def without_async_progress(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those of Spark's asynchronous progress tracking."""
    return {name: value for name, value in options.items() if name.lower() not in _ASYNC_PROGRESS_OPTIONS}


def check_progress_is_tracked(options: Mapping[str, str], *, is_exactly_once: bool) -> None:
    """Check that Spark logs each micro-batch before it is written, where rows are written exactly once.

    Raises:
        OptionsError: It does not: asynchronous progress tracking is on.
    """
    is_asynchronous = any(
        name.lower() == _ASYNC_PROGRESS and value.lower() == "true" for name, value in options.items()
    )
    if is_exactly_once and is_asynchronous:
        raise asynchronous_progress()


def asynchronous_progress() -> OptionsError:
    """Describe that asynchronous progress tracking and exactly-once exclude each other."""
    problem = (
        "'sink.delivery-guarantee' = 'exactly-once' excludes 'asyncProgressTrackingEnabled' = 'true': after a "
        "failure, Spark would form other micro-batches from rows that are already written. Use "
        "'at-least-once', or remove the option"
    )
    return OptionsError("sink", (problem,))


def checkpoint_location(options: Mapping[str, str]) -> str:
    """Return the folder of a streaming query's checkpoint; empty if only the session has a default for it."""
    return next((value for name, value in options.items() if name.lower() == _CHECKPOINT_LOCATION), "")
