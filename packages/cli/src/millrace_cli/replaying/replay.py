"""Write the messages of dead letters back, each exactly once.

The messages and the progress of a replay are written in the same transactions, see KIP-98: a replay that is killed
leaves nothing of its last transaction, and the next one begins where that began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import Origin, TopicPartition, split_dead_letter_headers
from millrace.errors import MessageError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.offset_metadata import read_group_offsets
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options.secrets import Properties
from millrace_cli.dead_letters import origin_of
from millrace_cli.replaying.letters import DeadLetterTopic, dead_letter_topic, read_letters
from millrace_cli.replaying.progress import OffsetRanges, decode_progress, encode_progress
from millrace_cli.replaying.selection import DeadLetterSelection
from millrace_cli.replaying.transaction import MAX_TRANSACTION_S, ReplayTransaction, only_replay


@dataclass(frozen=True)
class Replay:
    """A replay of dead letters.

    Attributes:
        topic: The topic of dead letters.
        selection: The letters to replay.
        target: The topic to write to; None for those that the messages come from.
        group: The consumer group that remembers what was replayed, and the transactional id.
        keep_timestamps: Whether messages keep their own timestamps.
        transaction_size: The number of messages in a transaction.
    """

    topic: str
    selection: DeadLetterSelection
    target: str | None
    group: str
    keep_timestamps: bool
    transaction_size: int


@dataclass
class ReplayCounts:
    """Numbers of the messages that a replay writes, or would write.

    Attributes:
        letters: The number of letters in the topic.
        selected: The number of those that are selected.
        replayed_before: The number of selected ones that were replayed before.
        by_target: The number of messages to write, by topic.
    """

    letters: int = 0
    selected: int = 0
    replayed_before: int = 0
    by_target: Counter[str] = field(default_factory=Counter)


def plan_replay(client: Properties, replay: Replay) -> ReplayCounts:
    """Return what a replay would do, without writing anything.

    Raises:
        ClientError: The brokers refuse; or a topic does not exist.
        MessageError: A selected message does not tell where it comes from.
    """
    return _Run(client, replay).plan()


def run_replay(client: Properties, replay: Replay) -> ReplayCounts:
    """Write the selected messages that were not replayed before, each exactly once.

    Raises:
        ClientError: As `plan_replay`; or another replay with this group has begun.
        MessageError: As `plan_replay`, before anything is written; or a message is larger than its topic accepts.
    """
    # 1. End other replays with this group, and the transactions that they left open
    with only_replay(client, replay.group) as producer:
        # 2. Read what they have done. 3. Check everything, before anything is written
        run = _Run(client, replay)
        run.plan()
        # 4. Write messages and progress
        return run.write(producer)


class _Run:
    """A replay: the letters that there are now, and what was replayed when it begins."""

    def __init__(self, client: Properties, replay: Replay) -> None:
        self._client = client
        self._replay = replay
        self._admin = KafkaAdmin(client)
        self._topic: DeadLetterTopic = dead_letter_topic(self._admin, replay.topic)
        committed, self._group_metadata = read_group_offsets(client, replay.group, list(self._topic.end))
        self._done = {partition: OffsetRanges() for partition in self._topic.end} | {
            partition: decode_progress(offset, metadata, self._topic.id)
            for partition, (offset, metadata) in committed.items()
        }
        self._partition_counts: Mapping[str, int] = {}

    def plan(self) -> ReplayCounts:
        counts = ReplayCounts()
        for messages in read_letters(self._client, self._topic):
            counts.letters += len(messages)
            for message in self._replay.selection.of(messages):
                counts.selected += 1
                if message.offset() in self._done[_partition(message)]:
                    counts.replayed_before += 1
                else:
                    counts.by_target[self._target(message, origin_of(message))] += 1
        described = self._admin.topics(counts.by_target, option=None)
        self._partition_counts = {name: topic.partitions for name, topic in described.items()}
        return counts

    def write(self, producer: TransactionalProducer) -> ReplayCounts:
        counts = ReplayCounts()
        # Offsets without a message, such as those of transaction markers, belong to the message after them
        position = dict(self._topic.begin)
        transaction = ReplayTransaction(producer)
        try:
            for messages in read_letters(self._client, self._topic):
                selected = {(letter.partition(), letter.offset()) for letter in self._replay.selection.of(messages)}
                counts.letters += len(messages)
                counts.selected += len(selected)
                for message in messages:
                    partition, offset = _partition(message), message.offset()
                    done = self._done[partition]
                    done.add(position[partition], offset)
                    position[partition] = offset + 1
                    if (message.partition(), offset) not in selected:
                        continue
                    if offset in done:
                        counts.replayed_before += 1
                        continue
                    record = self._record(message)
                    transaction.produce(record)
                    done.add(offset, offset + 1)
                    counts.by_target[record["topic"]] += 1
                    if transaction.size >= self._replay.transaction_size or transaction.age_s > MAX_TRANSACTION_S:
                        transaction.commit(self._progress(), self._group_metadata)
            transaction.commit(self._progress(), self._group_metadata)
        except BaseException:
            transaction.abort()
            raise
        return counts

    def _progress(self) -> Iterator[ClientPartition]:
        for partition, done in self._done.items():
            offset, metadata = encode_progress(done, self._topic.begin[partition], self._topic.id)
            yield ClientPartition(*partition, offset, metadata)

    def _record(self, message: Message) -> dict[str, Any]:
        headers, origin = split_dead_letter_headers(message.headers() or ())
        target = self._target(message, origin)
        record: dict[str, Any] = {
            "topic": target,
            "key": message.key(),
            "value": message.value(),
            "headers": headers,
        }
        if self._replay.keep_timestamps and origin is not None and origin.timestamp is not None:
            record["timestamp"] = origin.timestamp
        # Where it was, whatever partitioner had put it there; elsewhere by its key
        if origin is not None and target == origin.topic and origin.partition < self._partition_counts[target]:
            record["partition"] = origin.partition
        return record

    def _target(self, message: Message, origin: Origin | None) -> str:
        if self._replay.target is not None:
            return self._replay.target
        if origin is None:
            raise MessageError(
                f"the message at partition {message.partition()}, offset {message.offset()} of topic "
                f"{self._replay.topic!r} lacks the headers that name its origin, which dead letters of the "
                f"collector 'topic' have: give a topic by --to, or leave it out by --where \"topic IS NOT NULL\""
            )
        return origin.topic


def _partition(message: Message) -> TopicPartition:
    return TopicPartition(message.topic(), message.partition())
