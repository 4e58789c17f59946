"""The consumer group of a stream: its offsets, and the claim by which streams with the same group notice each other.

The offsets are for tools that watch the group, which see by them how far the stream is. millrace's consumers are in no
group, so that a group has no members for its streams: a stream writes its claim beside the offsets that it commits, as
their metadata, which say whose they are and when that was. It is renewed as long as the stream runs.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaException

from millrace.contracts import TopicPartition
from millrace.errors import GroupInUseError
from millrace.kafka.cluster import RETRY_PAUSE_S, Cluster
from millrace.kafka.errors import client_errors, kafka_error, may_pass
from millrace.source.offsets import Offsets

logger = logging.getLogger("millrace.source")

RENEW_S = 10.0
"""How often a stream renews its claim."""

HOLDS_S = 35.0
"""How long a claim holds that is not renewed: its stream is gone without having said so."""

RELEASE_S = 2.0

CLAIM_S = 10.0
"""How long brokers may take to note a claim."""

_CLAIM = re.compile(r"millrace (\w+) (\d+)")

_ADVICE = (
    "Stop it, give this query a group of its own by option 'properties.group.id', or set "
    "'scan.check.duplicated.group.id' to false"
)


class Group:
    """Commits a stream's offsets in the background; the checkpoint is what counts, so failures are told and no more.

    Args:
        cluster: Where the group is.
        owner: The stream, the same after each restart.
        now: Seconds since 1970.

    Attributes:
        succeeded: How many commits succeeded.
        failed: How many commits failed.
        committed: The offsets of the newest commit that succeeded.
    """

    def __init__(self, cluster: Cluster, owner: str, now: Callable[[], float] = time.time) -> None:
        self._cluster = cluster
        self._owner = owner
        self._now = now
        self._newest: Offsets = {}
        self._renewal: threading.Thread | None = None
        self._released = threading.Event()
        self.succeeded = 0
        self.failed = 0
        self.committed: Offsets = {}

    def commit(self, offsets: Offsets) -> None:
        """Begin to commit offsets; does not wait for the brokers."""
        self._newest = offsets
        if not offsets:
            return
        self._write(offsets).add_done_callback(functools.partial(self._on_done, offsets))
        self._keep_claim()

    def claim(self, offsets: Offsets) -> None:
        """Take the group, at the offsets where the stream starts.

        Raises:
            GroupInUseError: Another stream has it.
        """
        check_group(self._cluster, offsets, self._owner, self._now)
        if offsets:
            self._newest = offsets
            with client_errors(f"claiming consumer group {self._cluster.group!r}"):
                self._write_surely(offsets)
            self._keep_claim()
        # Of two that have started together, the last one to write has the group
        check_group(self._cluster, offsets, self._owner, self._now)

    def release(self) -> None:
        """Give up the claim; the offsets stay."""
        if self._renewal is None:
            return
        self._released.set()
        try:
            self._cluster.begin_commit(self._newest).result(timeout=RELEASE_S)
        except Exception as error:
            logger.info("the consumer group was not released: %s", error)

    def _write_surely(self, offsets: Offsets) -> None:
        deadline = time.monotonic() + CLAIM_S
        while True:
            try:
                return _check_written(self._write(offsets), CLAIM_S)
            except KafkaException as error:
                # A group that nobody has used before finds its coordinator late
                if not may_pass(kafka_error(error)) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_PAUSE_S)

    def _keep_claim(self) -> None:
        if self._renewal is None:
            self._renewal = threading.Thread(target=self._renew, name="millrace-group", daemon=True)
            self._renewal.start()

    def _renew(self) -> None:
        while not self._released.wait(RENEW_S):
            offsets = self._newest
            self._write(offsets).add_done_callback(functools.partial(self._on_renewed, offsets))

    def _write(self, offsets: Offsets) -> Future[Any]:
        return self._cluster.begin_commit(offsets, f"millrace {self._owner} {int(self._now())}")

    def _on_done(self, offsets: Offsets, done: Future[Any]) -> None:
        try:
            _check_written(done)
        except Exception as error:
            self.failed += 1
            logger.warning("offsets of the consumer group were not committed (%d times so far): %s", self.failed, error)
        else:
            self.succeeded += 1
            self.committed = offsets

    def _on_renewed(self, offsets: Offsets, done: Future[Any]) -> None:
        # The commit itself was counted; a renewal makes good for it when it failed
        with suppress(Exception):
            _check_written(done)
            self.committed = offsets


def _check_written(done: Future[Any], timeout_s: float | None = None) -> None:
    """Raise what kept offsets from being committed, be it only those of one partition."""
    for partition in done.result(timeout=timeout_s).topic_partitions:
        if partition.error is not None:
            raise KafkaException(partition.error)


def check_group(
    cluster: Cluster, partitions: Mapping[TopicPartition, int], owner: str, now: Callable[[], float] = time.time
) -> None:
    """Refuse a group that someone else uses.

    Args:
        cluster: Where the group is.
        partitions: What the query reads.
        owner: The query.
        now: Seconds since 1970.

    Raises:
        GroupInUseError: The group has live members, or another running query of millrace has claimed it.
        OptionsError: The option ``properties.group.id`` is not given.
    """
    group = cluster.group
    members = cluster.group_members()
    if members:
        raise GroupInUseError(
            f"consumer group {group!r} has {len(members)} live members: {', '.join(members[:5])}"
            f"{', ...' if len(members) > 5 else ''}. {_ADVICE}"
        )
    for partition, metadata in cluster.committed_metadata(list(partitions)).items():
        claim = _CLAIM.fullmatch(metadata)
        if claim is None or claim[1] == owner:
            continue
        age_s = now() - int(claim[2])
        if age_s < HOLDS_S:
            raise GroupInUseError(
                f"consumer group {group!r} is used by another query of millrace, which committed {partition} "
                f"{max(age_s, 0):.0f} s ago. {_ADVICE}; a query that was killed gives its group free after "
                f"{HOLDS_S:.0f} s"
            )
