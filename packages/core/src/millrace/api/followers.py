"""The followers of this process's queries: pipelines run in sessions of their own, which they are told of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Follower(Protocol):
    """Follows the queries of sessions."""

    def follow(self, spark: SparkSession) -> None:
        """Follow the queries of one more session."""


FOLLOWERS: list[Follower] = []
"""All that are open."""


def follow_session(spark: SparkSession) -> None:
    """Let all that are open follow the queries of a session that a pipeline has made for itself."""
    for follower in FOLLOWERS:
        follower.follow(spark)
