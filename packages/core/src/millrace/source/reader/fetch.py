"""Fetch the messages of a split's offsets, in batches.

A log may have gaps: compacted records, markers of transactions, and records of aborted transactions, which a consumer
with ``isolation.level`` = ``read_committed`` does not get (KIP-98). A range therefore ends at a later record, or at the
end of the partition, or, if the client keeps fetching but returns no visible records, at the last offset that it has
fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, DataLossError
from millrace.kafka.consumer import KafkaConsumer, has_fetched_beyond, watermarks
from millrace.kafka.errors import NO_GROUP_CODES, UNKNOWN_TOPIC_CODES, client_errors, is_transient, kafka_error
from millrace.kafka.outages import TOLD_AFTER_S, Outage
from millrace.kafka.retry import poll
from millrace.kafka.statistics import FetchPositions
from millrace.records.messages import Messages
from millrace.source.data_loss_messages import DATA_LOSS_HINT, describe_log, logger
from millrace.source.reader.fetch_timeouts import FetchTimeouts
from millrace.source.reader.fetched_ahead import FetchedAhead
from millrace.source.reader.kept_messages import KeptMessages
from millrace.source.reader.polling import FEW_MESSAGES, MAX_BATCH_MESSAGES, Poller
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split

FIRST_BATCH_MESSAGES = 200
"""Messages in a split's first batch, before their average size has been measured."""

BATCH_BYTES = 8 << 20
"""About the most bytes in a batch, by the size of the messages before."""

_GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION, KafkaError.OFFSET_OUT_OF_RANGE}


def fetch(
    consumer: KafkaConsumer,
    split: Split,
    metrics: SplitMetrics,
    *,
    fail_on_data_loss: bool = True,
    timeouts: FetchTimeouts | None = None,
    new_follower: Callable[[], KafkaConsumer] | None = None,
    fetches_singly: bool = False,
    store: KeptMessages | None = None,
) -> Iterator[Messages]:
    """Yield all visible messages of a split's ranges, in batches, in order within each partition.

    Args:
        consumer: The consumer to fetch with, which gets a new assignment.
        split: What to read.
        metrics: Where to count what was read.
        fail_on_data_loss: Whether offsets that are gone are an error; else they are skipped with a warning.
        timeouts: How long to wait for messages.
        new_follower: Creates a consumer with the same properties whose fetch positions can be followed. It goes on
            where the log has no visible messages for long; None to wait for a visible one, or the end of the partition.
        fetches_singly: Whether the consumers fetch again only when they are asked to: see `FetchSizes`.
        store: Keeps what is fetched behind the ranges, and has what earlier tasks have fetched; None to keep nothing.

    Raises:
        DataLossError: Some of the offsets are no longer in the log, and that is an error.
        ClientError: The brokers refused, or nothing came for two minutes.
    """
    if split.ranges:
        fetcher = _Fetcher(
            consumer,
            split,
            metrics,
            fail_on_data_loss=fail_on_data_loss,
            timeouts=timeouts or FetchTimeouts(),
            new_follower=new_follower,
            fetches_singly=fetches_singly,
            ahead=FetchedAhead(store, split.ranges),
        )
        yield from fetcher.run()


class _Fetcher:
    def __init__(
        self,
        consumer: KafkaConsumer,
        split: Split,
        metrics: SplitMetrics,
        *,
        fail_on_data_loss: bool,
        timeouts: FetchTimeouts,
        new_follower: Callable[[], KafkaConsumer] | None,
        fetches_singly: bool,
        ahead: FetchedAhead,
    ) -> None:
        self._consumer = consumer
        self._metrics = metrics
        self._fail = fail_on_data_loss
        self._timeouts = timeouts
        self._new_follower = new_follower
        self._fetches_singly = fetches_singly
        self._ahead = ahead
        self._poller = Poller(consumer, fetches_singly=fetches_singly)
        self._unfinished = {range_.partition: range_ for range_ in split.ranges}
        self._only_partition = split.ranges[0].partition if len(split.ranges) == 1 else None
        self._positions = {range_.partition: range_.start for range_ in split.ranges}
        # Read to their ends, and still assigned
        self._finished: list[TopicPartition] = []
        # What follows in the client's queue may be of the same partition
        self._last_polled: TopicPartition | None = None
        self._ended_early: set[TopicPartition] = set()
        self._retried_at: dict[TopicPartition, int] = {}
        # By the reports before the last poll
        self._fetched_to: dict[TopicPartition, int] = {}
        self._batch_size = FIRST_BATCH_MESSAGES
        # Something of them came since the consumer was asked to fetch
        self._answered: set[TopicPartition] = set()
        self._last_message_at = time.monotonic()
        self._outage = Outage(consumer.client_log.servers)

    def run(self) -> Iterator[Messages]:
        with client_errors(f"reading {self._describe_unfinished()}"):
            kept_messages = [
                messages for range_ in list(self._unfinished.values()) for messages in self._take_kept(range_)
            ]
            try:
                if self._unfinished:
                    self._assign()
                for messages in chain.from_iterable(kept_messages):
                    self._count(messages)
                    yield messages
                self._last_message_at = time.monotonic()
                while self._unfinished:
                    yield from self._poll()
                self._keep_rest()
            finally:
                self._give_back()

    def _take_kept(self, range_: OffsetRange) -> Iterator[Iterator[Messages]]:
        """Move on behind what an earlier task has fetched of a range, and yield its messages."""
        kept_messages = self._ahead.find(range_)
        if kept_messages is not None:
            self._move(range_, min(kept_messages.end, range_.end))
            yield kept_messages.up_to(range_.end)

    def _keep_rest(self) -> None:
        """Keep what the client has fetched behind the ranges for the tasks that go on there."""
        is_drained = not self._ahead.wanted or self._consumer.owner is not self
        while not is_drained:
            polled, is_drained = self._poller.rest()
            if is_drained:
                # Before the client fetches again
                self._consumer.unassign(self)
            for messages in self._by_partition([message for message in polled if not message.error()]):
                self._ahead.add(messages)
            self._forget_failed([message for message in polled if message.error()])
        self._ahead.keep()

    @property
    def _client(self) -> Consumer:
        return self._consumer.client

    def _assign(self) -> None:
        self._consumer.client_log.clear()
        self._finished.clear()
        self._answered.clear()
        self._poller = Poller(self._consumer, fetches_singly=self._fetches_singly)
        partitions = [ClientPartition(*partition, self._positions[partition]) for partition in self._unfinished]
        self._consumer.assign(self, partitions)

    def _give_back(self) -> None:
        if self._consumer.positions is not None:
            self._consumer.close()
        else:
            # A reader that is abandoned ends when it likes, perhaps in the middle of the next one
            self._consumer.unassign(self)

    def _poll(self) -> Iterator[Messages]:
        finished_before = len(self._finished)
        remaining = sum(range_.end - self._positions[partition] for partition, range_ in self._unfinished.items())
        asked = min(self._batch_size, remaining)
        polled, is_drained = self._poller.poll(asked, remaining)
        failed = [message for message in polled if message.error()] if any(map(Message.error, polled)) else []
        batch = [message for message in polled if not message.error()] if failed else polled
        groups = [messages for messages in map(self._advance, self._by_partition(batch)) if messages.items]
        if batch:
            self._last_polled = TopicPartition(batch[-1].topic(), batch[-1].partition())
        due = self._finished[: finished_before if asked <= FEW_MESSAGES else len(self._finished)]
        if not is_drained and self._last_polled in self._ahead.wanted:
            due = [partition for partition in due if partition != self._last_polled]
        self._unassign_finished(due)
        for messages in groups:
            self._count(messages)
            yield messages
        for message in failed:
            self._on_error(message.error(), message)
        if is_drained:
            self._fetch_again()
        self._check_stall(has_messages=bool(batch), is_drained=is_drained)

    def _fetch_again(self) -> None:
        """Ask a consumer that fetches singly for more of the partitions of which it has handed out all that came."""
        due = (
            [partition for partition in self._answered if partition in self._unfinished] if self._fetches_singly else []
        )
        if due:
            self._client.incremental_unassign([ClientPartition(*partition) for partition in due])
            self._client.incremental_assign(
                [ClientPartition(*partition, self._positions[partition]) for partition in due]
            )
        self._answered.clear()

    def _by_partition(self, batch: list[Message]) -> list[Messages]:
        if not batch:
            return []
        return [Messages(self._only_partition, batch)] if self._only_partition else Messages.by_partition(batch)

    def _advance(self, messages: Messages) -> Messages:
        """Move on behind the messages, and leave out those that are not of the range."""
        range_ = self._unfinished.get(messages.partition)
        if range_ is None:
            self._ahead.add(messages)
            return Messages(messages.partition, [])
        items = messages.items
        self._answered.add(range_.partition)
        self._ended_early.discard(range_.partition)
        last = items[-1].offset()
        if last >= range_.end:
            self._ahead.add(
                Messages(messages.partition, [message for message in items if message.offset() >= range_.end])
            )
            items = [message for message in items if message.offset() < range_.end]
        self._move(range_, last + 1)
        return Messages(messages.partition, items)

    def _move(self, range_: OffsetRange, position: int) -> None:
        self._positions[range_.partition] = position
        if position >= range_.end:
            del self._unfinished[range_.partition]
            self._finished.append(range_.partition)

    def _unassign_finished(self, due: list[TopicPartition]) -> None:
        """Stop fetching some of the partitions that have finished, unless no other is left.

        The call takes half a millisecond. A small split often ends with the poll after the one that finished a
        partition, so the call is put off until then. It also drops what the client has fetched of them.
        """
        self._finished = [partition for partition in self._finished if partition not in due]
        if due and self._unfinished:
            self._client.incremental_unassign([ClientPartition(*partition) for partition in due])

    def _count(self, messages: Messages) -> None:
        """Count messages, and ask next time for as many as fit into a batch by the size of these."""
        size = sum(map(len, messages.items))
        self._metrics.fetched(messages.partition, messages.items, size)
        self._batch_size = max(1, min(MAX_BATCH_MESSAGES, BATCH_BYTES * len(messages.items) // max(size, 1)))

    def _on_error(self, error: KafkaError, message: Message) -> None:
        partition = TopicPartition(message.topic(), message.partition())
        range_ = self._unfinished.get(partition)
        code = error.code()
        if is_transient(error):
            self._ended_early.clear()
            return
        if range_ is None:
            if message.topic() is None and code not in NO_GROUP_CODES:
                raise KafkaException(error)
            self._forget_failed([message])
            return
        if code == KafkaError._PARTITION_EOF:
            # The offsets after the last visible record are gaps: markers of transactions, or compacted away
            self._on_end_of_partition(range_, message.offset())
        elif code in _GONE:
            self._on_loss(range_)
        elif code in UNKNOWN_TOPIC_CODES and not self._fail:
            # A broker that has just started may not know the topic yet
            self._ended_early.add(partition)
        else:
            raise KafkaException(error)

    def _forget_failed(self, failed: list[Message]) -> None:
        """Keep nothing of partitions of which something could not be fetched."""
        for message in failed:
            if message.error().code() != KafkaError._PARTITION_EOF:
                self._ahead.forget(TopicPartition(message.topic(), message.partition()))

    def _on_end_of_partition(self, range_: OffsetRange, position: int) -> None:
        if position >= range_.end:
            self._move(range_, position)
        else:
            self._ended_early.add(range_.partition)
            self._answered.add(range_.partition)

    def _check_stall(self, *, has_messages: bool, is_drained: bool) -> None:
        now = time.monotonic()
        if has_messages or not self._unfinished:
            self._last_message_at = now
            self._outage.ends()
            return
        # A poll may be full of errors and ends of partitions, with messages behind them
        if self._consumer.positions is not None and is_drained:
            self._follow(self._consumer.positions, now)
            if not self._unfinished:
                return
        silent_s = now - self._last_message_at
        waiting = {p: self._positions[p] for p in self._unfinished.keys() - self._ended_early}
        if self._new_follower and silent_s > self._timeouts.quiet_s and has_fetched_beyond(self._client, waiting):
            self._give_back()
            self._consumer, self._new_follower = self._new_follower(), None
            self._assign()
        if silent_s > self._timeouts.early_end_s and self._ended_early.issuperset(self._unfinished):
            self._on_loss(self._unfinished[min(self._ended_early & self._unfinished.keys())])
            self._last_message_at = now
        if silent_s > min(TOLD_AFTER_S, self._timeouts.refused_s, self._timeouts.stall_s):
            self._report_silence(silent_s)

    def _report_silence(self, silent_s: float) -> None:
        """Tell that nothing comes, and give up after a while."""
        client_log = self._consumer.client_log
        refusal = client_log.security_error() if silent_s > self._timeouts.refused_s else None
        if refusal:
            raise ClientError(f"reading {self._describe_unfinished()} failed: {refusal}")
        said = client_log.recent_errors()
        if silent_s > self._timeouts.stall_s:
            raise ClientError(
                f"reading {self._describe_unfinished()}: no message for {self._timeouts.stall_s:.0f} s"
                f"{f': {said}' if said else ''}. Check that the brokers are running, and that "
                f"their advertised.listeners can be reached from this machine"
            )
        if said:
            limit = f"up to {self._timeouts.stall_s:.0f} s"
            self._outage.goes_on(silent_s, f"reading {self._describe_unfinished()}", said, limit)

    def _follow(self, reported: FetchPositions, now: float) -> None:
        """End ranges that were fetched to their ends without a visible message.

        It is called after a poll that found nothing more: what was fetched before the report has been handed out, then.
        """
        for partition, offset in self._fetched_to.items():
            range_ = self._unfinished.get(partition)
            if range_ is not None and offset >= range_.end:
                self._move(range_, offset)
        latest = reported.latest()
        if any(offset > self._fetched_to.get(partition, -1) for partition, offset in latest.items()):
            self._last_message_at = now
        self._fetched_to = latest

    def _on_loss(self, range_: OffsetRange) -> None:
        """Skip offsets that are gone, if the user wants that."""
        position = self._positions[range_.partition]
        try:
            low, high = watermarks(self._client, range_.partition)
        except KafkaException as error:
            if not is_transient(kafka_error(error)):
                raise
            # To be looked up again when nothing has come for a while
            self._ended_early.add(range_.partition)
            return
        if 0 < high < position:
            low, high = self._wait_for_end(range_.partition, position)
            if high >= position >= low:
                self._seek(range_, position)
                return
        if low <= position < high and self._retried_at.get(range_.partition) != position:
            self._retried_at[range_.partition] = position
            self._seek(range_, position)
            return
        lost = f"{range_.partition}: offsets {position} to {range_.end - 1} were to be read, but the log "
        lost += describe_log(low, high)
        if self._fail:
            raise DataLossError(
                f"{lost}. They were deleted by retention, or the topic was created again. {DATA_LOSS_HINT}"
            )
        # Where the log has ended before, there is nothing to go on with: it was created again, or truncated
        resume = min(low, range_.end) if low > position else range_.end
        logger.warning("data is lost: %s; %d offsets are skipped", lost, resume - position)
        self._metrics.skipped(range_.partition, resume - position)
        self._seek(range_, resume)

    def _wait_for_end(self, partition: TopicPartition, position: int) -> tuple[int, int]:
        """Return the bounds of a log that ends before what was read of it: a leader may learn its end late."""
        return poll(
            lambda: watermarks(self._client, partition),
            until=lambda bounds: bounds[1] >= position,
            timeout_s=self._timeouts.early_end_s,
        )

    def _seek(self, range_: OffsetRange, offset: int) -> None:
        self._ended_early.discard(range_.partition)
        self._client.incremental_unassign([ClientPartition(*range_.partition)])
        self._positions[range_.partition] = offset
        if offset < range_.end:
            self._client.incremental_assign([ClientPartition(*range_.partition, offset)])
        else:
            del self._unfinished[range_.partition]

    def _describe_unfinished(self) -> str:
        return ", ".join(str(OffsetRange(p, self._positions[p], range_.end)) for p, range_ in self._unfinished.items())
