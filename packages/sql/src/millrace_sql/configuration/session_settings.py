"""Settings of Spark's session that statements need, and that others who share the session may not want."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from millrace.failures import reason_of
from millrace_sql.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_ZONE = "spark.sql.session.timeZone"
_TIME_TYPE = "spark.sql.timeType.enabled"
_FILTER_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@contextmanager
def session_settings(spark: SparkSession, zone: str | None) -> Iterator[None]:
    """Give a session a time zone, the type TIME and pushed filters for what runs within, then its former settings.

    Spark takes the zone of an expression when it analyses it, and settings of a stream when the stream starts.

    Args:
        spark: The session.
        zone: The zone; None for that of the session.

    Raises:
        SqlError: Spark knows no such zone.
    """
    with setting(spark, _TIME_TYPE, "true"), setting(spark, _FILTER_PUSHDOWN, "true"):
        if zone is None:
            yield
            return
        with setting(spark, TIME_ZONE, zone):
            yield


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """Give a session a setting for what runs within, and then the former one again.

    Raises:
        SqlError: Spark does not take it.
    """
    before = spark.conf.get(key, None)
    try:
        spark.conf.set(key, value)
    except Exception as error:
        what = f"no time zone {value!r}" if key == TIME_ZONE else f"no setting {key!r}"
        raise SqlError(f"Spark has {what}: {reason_of(error)}") from error
    try:
        yield
    finally:
        # A statement may have set another value for the session itself
        if spark.conf.get(key, None) == value:
            spark.conf.unset(key) if before is None else spark.conf.set(key, before)
