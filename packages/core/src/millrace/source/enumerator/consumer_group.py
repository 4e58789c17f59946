"""Commit a stream's offsets to its consumer group, and hold a lease on the group.

The offsets are for tools that watch the group, which see by them how far the stream is. millrace's consumers are in no
group, so that a group has no members for its streams: a stream writes its lease into the metadata of the offsets that
it commits, with its own name and the time. It renews the lease as long as it runs, so that streams with the same group
notice each other.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Protocol

from confluent_kafka import KafkaError, KafkaException

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.errors import GroupInUseError
from millrace.kafka.errors import client_errors, is_transient_exception
from millrace.kafka.retry import RETRY_INTERVAL_S, call_with_retries

logger = logging.getLogger("millrace.source")

LEASE_DURATION_S = 35.0
"""A lease expires after this time without a renewal: its stream has ended without releasing it."""

_LEASE = re.compile(r"millrace (\w+) (\d+)")

_HINT = (
    "Stop it, give this query a group of its own by option 'properties.group.id', or set "
    "'scan.check.duplicated.group.id' to false"
)


class GroupAdmin(Protocol):
    """One consumer group of a cluster."""

    @property
    def group(self) -> str:
        """The group's name."""

    def group_members(self) -> list[str]:
        """Return the live members of the group."""

    def committed_metadata(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, str]:
        """Return what was written beside the offsets that the group has committed."""

    def commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """Commit offsets for the group; returns with the brokers' answer."""


@dataclass(frozen=True)
class LeaseTiming:
    """Durations of the steps of a lease, in seconds.

    Attributes:
        renewal_s: Between two renewals.
        acquire_timeout_s: For brokers to write a new lease.
        release_timeout_s: For brokers to write that the lease is released.
        retry_pause_s: Before a failed attempt to write a new lease is repeated.
    """

    renewal_s: float = 10.0
    acquire_timeout_s: float = 10.0
    release_timeout_s: float = 2.0
    retry_pause_s: float = RETRY_INTERVAL_S


@dataclass(frozen=True)
class _Commit:
    """Offsets to commit.

    Attributes:
        offsets: The offsets.
        holds_lease: Whether the stream holds the group's lease with it; it releases it otherwise.
        done: Ends when the brokers have answered; cancelled when a newer commit replaces this one.
    """

    offsets: Offsets
    holds_lease: bool = True
    done: Future[None] = field(default_factory=Future)


class ConsumerGroup:
    """Commit a stream's offsets in the background; the checkpoint is what counts, so failures are only logged.

    Args:
        admin: Where the group is.
        owner: The stream, the same after each restart.
        now: Wall clock, in seconds since 1970.
        timing: Durations of the steps of a lease.

    Attributes:
        succeeded: How many commits succeeded.
        failed: How many commits failed.
        committed: The offsets of the newest commit that succeeded.
    """

    def __init__(
        self,
        admin: GroupAdmin,
        owner: str,
        now: Callable[[], float] = time.time,
        timing: LeaseTiming | None = None,
    ) -> None:
        self._admin = admin
        self._owner = owner
        self._now = now
        self._timing = timing or LeaseTiming()
        self._latest: Offsets = {}
        # A signal's handler may put a commit while another one is being put
        self._queue: SimpleQueue[_Commit] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.succeeded = 0
        self.failed = 0
        self.committed: Offsets = {}

    def commit(self, offsets: Offsets) -> None:
        """Begin to commit offsets; does not wait for the brokers."""
        if offsets:
            self._enqueue(_Commit(offsets)).add_done_callback(self._count)

    def acquire_lease(self, offsets: Offsets) -> None:
        """Acquire the group's lease, at the offsets where the stream starts.

        Raises:
            ClientError: The brokers do not accept the lease.
            GroupInUseError: Another stream holds it.
        """
        check_group_is_free(self._admin, offsets, self._owner, self._now)
        if offsets:
            with client_errors(f"claiming consumer group {self._admin.group!r}"):
                self._commit_with_retries(offsets)
        # Of two that have started together, the last one to write has the lease
        check_group_is_free(self._admin, offsets, self._owner, self._now)

    def release_lease(self) -> None:
        """Release the lease; the offsets stay."""
        if self._thread is None:
            return
        try:
            self._enqueue(_Commit(self._latest, holds_lease=False)).result(self._timing.release_timeout_s)
        except Exception as error:
            logger.info("the consumer group was not released: %s", error)

    def _commit_with_retries(self, offsets: Offsets) -> None:
        timeout_s = self._timing.acquire_timeout_s
        # A group that nobody has used before finds its coordinator late
        try:
            call_with_retries(
                lambda: self._enqueue(_Commit(offsets)).result(timeout_s),
                is_transient_exception,
                timeout_s,
                self._timing.retry_pause_s,
            )
        except TimeoutError:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None

    def _enqueue(self, commit: _Commit) -> Future[None]:
        self._latest = commit.offsets
        self._queue.put(commit)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="millrace-group", daemon=True)
            self._thread.start()
        return commit.done

    def _run(self) -> None:
        holds_lease = True
        while holds_lease:
            commit = self._next_commit()
            holds_lease = commit.holds_lease
            lease = f"millrace {self._owner} {int(self._now())}" if holds_lease else ""
            try:
                self._admin.commit(commit.offsets, lease)
            except Exception as error:
                commit.done.set_exception(error)
            else:
                self.committed = commit.offsets
                commit.done.set_result(None)

    def _next_commit(self) -> _Commit:
        """Wait for the next commit: the newest that there is, or one that renews the lease when that is due."""
        try:
            commit = self._queue.get(timeout=self._timing.renewal_s)
        except Empty:
            return _Commit(self._latest)
        while not self._queue.empty():
            commit.done.cancel()
            commit = self._queue.get()
        return commit

    def _count(self, commit: Future[None]) -> None:
        if commit.cancelled():
            return
        error = commit.exception()
        if error is None:
            self.succeeded += 1
        else:
            self.failed += 1
            logger.warning("offsets of the consumer group were not committed (%d times so far): %s", self.failed, error)


def check_group_is_free(
    admin: GroupAdmin, partitions: Collection[TopicPartition], owner: str, now: Callable[[], float] = time.time
) -> None:
    """Refuse a group that someone else uses.

    Args:
        admin: Where the group is.
        partitions: What the query reads.
        owner: The query.
        now: Wall clock, in seconds since 1970.

    Raises:
        GroupInUseError: The group has live members, or another running query of millrace holds its lease.
        OptionsError: The option ``properties.group.id`` is not given.
    """
    group = admin.group
    members = admin.group_members()
    if members:
        raise GroupInUseError(
            f"consumer group {group!r} has {len(members)} live members: {', '.join(members[:5])}"
            f"{', ...' if len(members) > 5 else ''}. {_HINT}"
        )
    for partition, metadata in admin.committed_metadata(list(partitions)).items():
        lease = _LEASE.fullmatch(metadata)
        if lease is None or lease[1] == owner:
            continue
        age_s = now() - int(lease[2])
        if age_s < LEASE_DURATION_S:
            raise GroupInUseError(
                f"consumer group {group!r} is used by another query of millrace, which committed {partition} "
                f"{max(age_s, 0):.0f} s ago. {_HINT}; the group of a query that was killed is free again after "
                f"{LEASE_DURATION_S:.0f} s"
            )
