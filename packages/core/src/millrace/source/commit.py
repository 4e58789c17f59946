"""Committing the offsets of a consumer group, so that tools that watch the group see how far a stream is."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import Any

from millrace.kafka.cluster import Cluster
from millrace.source.offsets import Offsets

logger = logging.getLogger("millrace.source")


class GroupCommits:
    """Commits offsets in the background; the checkpoint is what counts, so that failures are told and no more.

    Args:
        cluster: Where the group is.

    Attributes:
        failed: How many commits failed.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.failed = 0

    def commit(self, offsets: Offsets) -> None:
        """Begin to commit offsets; does not wait for the brokers."""
        self._cluster.begin_commit(offsets).add_done_callback(self._on_done)

    def _on_done(self, done: Future[Any]) -> None:
        error = done.exception()
        if error is not None:
            self.failed += 1
            logger.warning("offsets of the consumer group were not committed (%d times so far): %s", self.failed, error)
