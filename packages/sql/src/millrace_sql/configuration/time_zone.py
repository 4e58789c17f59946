"""The time zone of Spark's session, which several environments share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from millrace.failures import reason_of
from millrace_sql.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_ZONE = "spark.sql.session.timeZone"


@contextmanager
def session_time_zone(spark: SparkSession, zone: str | None) -> Iterator[None]:
    """Give a session a time zone for what runs within, and then the former one again.

    Spark takes the zone of an expression when it analyses it, and that of a stream when the stream starts.

    Args:
        spark: The session.
        zone: The zone; None for that of the session.

    Raises:
        SqlError: Spark knows no such zone.
    """
    if zone is None:
        yield
        return
    before = spark.conf.get(TIME_ZONE, None)
    try:
        spark.conf.set(TIME_ZONE, zone)
    except Exception as error:
        raise SqlError(f"Spark has no time zone {zone!r}: {reason_of(error)}") from error
    try:
        yield
    finally:
        # A statement may have set another one for the session itself
        if spark.conf.get(TIME_ZONE, None) == zone:
            spark.conf.unset(TIME_ZONE) if before is None else spark.conf.set(TIME_ZONE, before)
