"""The consumer group of a stream: its offsets, and the claim by which streams with the same group notice each other.

The offsets are for tools that watch the group, which see by them how far the stream is. millrace's consumers are in no
group, so that a group has no members for its streams: a stream writes its claim beside the offsets that it commits, as
their metadata, which say whose they are and when that was. It is renewed as long as the stream runs.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from confluent_kafka import KafkaError, KafkaException

from millrace.contracts import TopicPartition
from millrace.errors import GroupInUseError
from millrace.kafka.admin import RETRY_PAUSE_S, KafkaAdmin
from millrace.kafka.errors import client_errors, is_transient, kafka_error
from millrace.source.enumerator.stream_offset import Offsets

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


@dataclass(frozen=True)
class _Write:
    """What a stream writes for its group.

    Attributes:
        offsets: The offsets to commit.
        is_claim: Whether the stream claims the group with it; it gives it up otherwise.
        written: Ends when the brokers have answered; cancelled when something newer is written instead.
    """

    offsets: Offsets
    is_claim: bool = True
    written: Future[None] = field(default_factory=Future)


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

    def __init__(self, cluster: KafkaAdmin, owner: str, now: Callable[[], float] = time.time) -> None:
        self._cluster = cluster
        self._owner = owner
        self._now = now
        self._newest: Offsets = {}
        # May be written to by a signal's handler in the middle of being written to
        self._writes: SimpleQueue[_Write] = SimpleQueue()
        self._writer: threading.Thread | None = None
        self.succeeded = 0
        self.failed = 0
        self.committed: Offsets = {}

    def commit(self, offsets: Offsets) -> None:
        """Begin to commit offsets; does not wait for the brokers."""
        if offsets:
            self._begin(_Write(offsets)).add_done_callback(self._count)

    def claim(self, offsets: Offsets) -> None:
        """Take the group, at the offsets where the stream starts.

        Raises:
            ClientError: The brokers do not take the claim.
            GroupInUseError: Another stream has it.
        """
        check_group(self._cluster, offsets, self._owner, self._now)
        if offsets:
            with client_errors(f"claiming consumer group {self._cluster.group!r}"):
                self._write_surely(offsets)
        # Of two that have started together, the last one to write has the group
        check_group(self._cluster, offsets, self._owner, self._now)

    def release(self) -> None:
        """Give up the claim; the offsets stay."""
        if self._writer is None:
            return
        try:
            self._begin(_Write(self._newest, is_claim=False)).result(RELEASE_S)
        except Exception as error:
            logger.info("the consumer group was not released: %s", error)

    def _write_surely(self, offsets: Offsets) -> None:
        deadline = time.monotonic() + CLAIM_S
        while True:
            try:
                return self._begin(_Write(offsets)).result(CLAIM_S)
            except TimeoutError:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None
            except KafkaException as error:
                # A group that nobody has used before finds its coordinator late
                if not is_transient(kafka_error(error)) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_PAUSE_S)

    def _begin(self, write: _Write) -> Future[None]:
        self._newest = write.offsets
        self._writes.put(write)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_all, name="millrace-group", daemon=True)
            self._writer.start()
        return write.written

    def _write_all(self) -> None:
        is_claimed = True
        while is_claimed:
            write = self._next()
            is_claimed = write.is_claim
            try:
                self._cluster.commit(write.offsets, f"millrace {self._owner} {int(self._now())}" if is_claimed else "")
            except Exception as error:
                write.written.set_exception(error)
            else:
                self.committed = write.offsets
                write.written.set_result(None)

    def _next(self) -> _Write:
        """What is to be written next: the newest that there is, or the claim when it is to be renewed."""
        try:
            write = self._writes.get(timeout=RENEW_S)
        except Empty:
            return _Write(self._newest)
        while not self._writes.empty():
            write.written.cancel()
            write = self._writes.get()
        return write

    def _count(self, commit: Future[None]) -> None:
        if commit.cancelled():
            return
        error = commit.exception()
        if error is None:
            self.succeeded += 1
        else:
            self.failed += 1
            logger.warning("offsets of the consumer group were not committed (%d times so far): %s", self.failed, error)


def check_group(
    cluster: KafkaAdmin, partitions: Mapping[TopicPartition, int], owner: str, now: Callable[[], float] = time.time
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
