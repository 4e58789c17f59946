"""Fetching: from a split's offsets to lists of messages."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, DataLossError
from millrace.kafka.admin import REQUEST_TIMEOUT_S
from millrace.kafka.client_log import REFUSED_S
from millrace.kafka.consumer import WatchedConsumer, consumer_for
from millrace.kafka.errors import NO_TOPIC, client_errors, is_transient, kafka_error
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.source.enumerator.data_loss import ADVICE, logger
from millrace.source.enumerator.splits import OffsetRange, Split
from millrace.source.enumerator.stream_offset import held
from millrace.source.reader.split_metrics import SplitMetrics

MOST_MESSAGES = 5_000
"""Messages in a batch: enough to make work per batch cheap, few enough to stay in the processor's cache."""

FIRST_MESSAGES = 200
"""Messages in a split's first batch, when their size is not known yet."""

BATCH_BYTES = 8 << 20
"""About the most bytes in a batch, by the size of the messages before."""

WAIT_S = 0.02
"""How long one call waits for messages: it returns early when it has all that it asked for."""

EARLY_END_S = 10.0
"""How long a log may seem to end before offsets that the driver saw: a new leader learns its high watermark late."""

STALL_S = 120.0
"""How long a read goes on without any message before it gives up; a restarted broker is back sooner."""


_GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION, KafkaError.OFFSET_OUT_OF_RANGE}


def fetch(
    client: Properties, split: Split, tally: SplitMetrics, *, fail_on_data_loss: bool = True
) -> Iterator[Messages]:
    """All visible messages of a split's ranges, in batches, in order within each partition.

    Args:
        client: Properties for the Kafka client.
        split: What to read.
        tally: Where to count what was read.
        fail_on_data_loss: Whether offsets that are gone are an error; else they are skipped with a warning.

    Raises:
        DataLossError: Some of the offsets are no longer in the log, and that is an error.
        ClientError: The brokers refused, or nothing came for two minutes.
    """
    if split.ranges:
        yield from _Fetch(consumer_for(client), split, tally, fail_on_data_loss=fail_on_data_loss).run()


class _Fetch:
    def __init__(self, watched: WatchedConsumer, split: Split, tally: SplitMetrics, *, fail_on_data_loss: bool) -> None:
        self._watched = watched
        self._tally = tally
        self._fail = fail_on_data_loss
        self._consumer: Consumer = watched.consumer
        self._watch = watched.watch
        self._open = {found.partition: found for found in split.ranges}
        self._only = split.ranges[0].partition if len(split.ranges) == 1 else None
        self._next = {found.partition: found.start for found in split.ranges}
        self._ended_early: set[TopicPartition] = set()
        self._tried_again: dict[TopicPartition, int] = {}
        self._ask = FIRST_MESSAGES
        self._heard_at = time.monotonic()

    def run(self) -> Iterator[Messages]:
        self._watch.clear()
        self._watched.user = self
        with client_errors(f"reading {self._what_is_left()}"):
            self._consumer.assign([ClientPartition(*found.partition, found.start) for found in self._open.values()])
            try:
                while self._open:
                    yield from self._step()
            finally:
                # A reader that is abandoned ends when it likes, perhaps in the middle of the next one
                if self._watched.user is self:
                    self._consumer.unassign()

    def _step(self) -> Iterator[Messages]:
        left = sum(found.end - self._next[partition] for partition, found in self._open.items())
        batch = self._consumer.consume(min(self._ask, left), WAIT_S)
        failed = [message for message in batch if message.error()] if any(map(Message.error, batch)) else []
        if failed:
            batch = [message for message in batch if not message.error()]
        for messages in self._by_partition(batch):
            kept = self._advance(messages)
            if kept.items:
                self._count(kept)
                yield kept
        for message in failed:
            self._on_error(message.error(), message)
        self._check_stall(heard=bool(batch))

    def _by_partition(self, batch: list[Message]) -> list[Messages]:
        if not batch:
            return []
        if self._only:
            return [Messages(self._only, batch)]
        groups: dict[TopicPartition, list[Message]] = {}
        for message in batch:
            groups.setdefault(TopicPartition(message.topic(), message.partition()), []).append(message)
        return [Messages(partition, items) for partition, items in groups.items()]

    def _advance(self, messages: Messages) -> Messages:
        """Move on behind the messages, and leave out those that are not of the range."""
        found = self._open.get(messages.partition)
        if found is None:
            return Messages(messages.partition, [])
        items = messages.items
        self._ended_early.discard(found.partition)
        last = items[-1].offset()
        if last >= found.end:
            items = [message for message in items if message.offset() < found.end]
        self._move(found, last + 1)
        return Messages(messages.partition, items)

    def _move(self, found: OffsetRange, offset: int) -> None:
        self._next[found.partition] = offset
        if offset >= found.end:
            del self._open[found.partition]
            if self._open:
                self._consumer.incremental_unassign([ClientPartition(*found.partition)])

    def _count(self, messages: Messages) -> None:
        """Count messages, and ask next time for as many as fit into a batch by the size of these."""
        size = sum(map(len, messages.items))
        self._tally.fetched(messages.partition, messages.items, size)
        self._ask = max(1, min(MOST_MESSAGES, BATCH_BYTES * len(messages.items) // max(size, 1)))

    def _on_error(self, error: KafkaError, message: Message) -> None:
        partition = TopicPartition(message.topic(), message.partition())
        found = self._open.get(partition)
        code = error.code()
        if is_transient(error):
            self._ended_early.clear()
            return
        if found is None:
            if message.topic() is None:
                raise KafkaException(error)
            return
        if code == KafkaError._PARTITION_EOF:
            # The offsets after the last visible record are gaps: markers of transactions, or compacted away
            self._at_end(found, message.offset())
        elif code in _GONE:
            self._on_loss(found)
        elif code in NO_TOPIC and not self._fail:
            # A broker that has just started may not know the topic yet
            self._ended_early.add(partition)
        else:
            raise KafkaException(error)

    def _at_end(self, found: OffsetRange, offset: int) -> None:
        if offset >= found.end:
            self._move(found, offset)
        else:
            self._ended_early.add(found.partition)

    def _check_stall(self, *, heard: bool) -> None:
        now = time.monotonic()
        if heard or not self._open:
            self._heard_at = now
            return
        silent_s = now - self._heard_at
        if silent_s > EARLY_END_S and self._ended_early.issuperset(self._open):
            self._on_loss(self._open[min(self._ended_early & self._open.keys())])
            self._heard_at = now
        refusal = self._watch.refusal() if silent_s > REFUSED_S else None
        if refusal:
            raise ClientError(f"reading {self._what_is_left()} failed: {refusal}")
        if silent_s > STALL_S:
            said = self._watch.said()
            raise ClientError(
                f"reading {self._what_is_left()}: no message for {STALL_S:.0f} s{f': {said}' if said else ''}. Check "
                f"that the brokers are running and reachable from this machine"
            )

    def _on_loss(self, found: OffsetRange) -> None:
        """Go on behind offsets that are gone, if the user wants that."""
        wanted = self._next[found.partition]
        try:
            low, high = self._log(found.partition)
        except KafkaException as error:
            if not is_transient(kafka_error(error)):
                raise
            # To be looked at again when nothing has come for a while
            self._ended_early.add(found.partition)
            return
        if low <= wanted < high and self._tried_again.get(found.partition) != wanted:
            self._tried_again[found.partition] = wanted
            self._go_on(found, wanted)
            return
        lost = f"{found.partition}: offsets {wanted} to {found.end - 1} were to be read, but the log {held(low, high)}"
        if self._fail:
            raise DataLossError(f"{lost}. They were deleted by retention, or the topic was made again. {ADVICE}")
        # Where the log has ended before, there is nothing to go on with: it was made again, or cut off
        resume = min(low, found.end) if low > wanted else found.end
        logger.warning("data is lost: %s; %d offsets are skipped", lost, resume - wanted)
        self._tally.skipped(found.partition, resume - wanted)
        self._go_on(found, resume)

    def _go_on(self, found: OffsetRange, offset: int) -> None:
        self._ended_early.discard(found.partition)
        self._consumer.incremental_unassign([ClientPartition(*found.partition)])
        self._next[found.partition] = offset
        if offset < found.end:
            self._consumer.incremental_assign([ClientPartition(*found.partition, offset)])
        else:
            del self._open[found.partition]

    def _log(self, partition: TopicPartition) -> tuple[int, int]:
        try:
            return self._consumer.get_watermark_offsets(ClientPartition(*partition), REQUEST_TIMEOUT_S)
        except KafkaException as error:
            if kafka_error(error).code() not in NO_TOPIC:
                raise
            return 0, 0

    def _what_is_left(self) -> str:
        return ", ".join(str(OffsetRange(p, self._next[p], found.end)) for p, found in self._open.items())
