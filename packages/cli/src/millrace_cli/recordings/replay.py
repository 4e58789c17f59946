"""Write the messages of a recording to a topic, each exactly once.

Messages are written in one order, that of `Recording.messages`. How many of them were written is committed in the same
transactions, as an offset of a consumer group: a replay that was killed continues after its last transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from time import time
from typing import Any, NamedTuple

from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, MillraceError
from millrace.kafka.admin import KafkaAdmin, Topic
from millrace.kafka.offset_metadata import read_group_offsets
from millrace.kafka.retry import SYSTEM_CLOCK, Clock
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options.secrets import Properties
from millrace_cli.errors import CommandError
from millrace_cli.recordings.contents import Extent, RecordedMessage, Recording
from millrace_cli.recordings.pace import Pace, shift_to_now, written_time_note
from millrace_cli.recordings.schema_ids import PARTS, SchemaIds
from millrace_cli.replaying.transaction import MAX_TRANSACTION_S, ReplayTransaction, only_replay
from millrace_cli.schema_registry import registry_call

MAX_PACED_TRANSACTION_S = 0.5
"""Age at which a transaction is committed when messages are written at a speed: readers wait for its end."""

_SHORT_WAIT_S = 0.02
_LEDGER_PARTITION = 0


@dataclass(frozen=True)
class RecordingReplay:
    """A replay of a recording.

    Attributes:
        topic: The topic to write to.
        group: The consumer group that remembers how many messages were written, and the transactional id.
        speed: How many times as fast as recorded; None for as fast as possible.
        keep_partitions: Whether each message goes to its recorded partition; otherwise its key determines that.
        shift_time: Whether timestamps are moved to the present, all by the same time.
        again: Whether to begin anew, whatever was written before.
        registry: The URL of a schema registry that gets the schemas; None to leave messages as they are.
        registry_options: Options of its client, see `registry_call`.
        transaction_size: The number of messages in a transaction.
    """

    topic: str
    group: str
    speed: float | None = None
    keep_partitions: bool = False
    shift_time: bool = False
    again: bool = False
    registry: str | None = None
    registry_options: Mapping[str, str] = field(default_factory=dict)
    transaction_size: int = 1000


class WrittenMessages(NamedTuple):
    """Numbers of the messages of a replay.

    Attributes:
        total: The number of messages in the recording.
        before: The number of those that earlier replays of the group have written.
        now: The number of those that this replay has written.
    """

    total: int
    before: int
    now: int


class _Progress(NamedTuple):
    """The progress of a replay: the number of messages, and the ms by which their timestamps were moved."""

    written: int
    shift: int


def default_group(recording: Recording, topic: str) -> str:
    """Return the group of the replays of a recording into a topic."""
    return f"millrace-replay-{topic}-{recording.digest()[:8]}"


def replay_recording(
    client: Properties,
    recording: Recording,
    replay: RecordingReplay,
    note: Callable[[str], None] = lambda _: None,
    clock: Clock = SYSTEM_CLOCK,
) -> WrittenMessages:
    """Write the messages that were not written before, each exactly once.

    Args:
        client: Properties for the Kafka client.
        recording: The recording.
        replay: What to do with it.
        note: Gets what is worth telling people.
        clock: Measures the pace.

    Raises:
        CommandError: The topic has too few partitions, the replay that this one continues has not moved timestamps, or
            the file is malformed.
        ClientError: There is no such topic, the group is used for something else, another replay with it has begun, or
            the brokers refuse, or do not answer.
        RegistryError: The registry does not accept a schema, or does not answer.
        MessageError: A message is larger than the client accepts.
    """
    # 1. End other replays with this group, and the transactions that they left open
    with only_replay(client, replay.group) as producer:
        # 2. Check everything, and read what they have done
        run = _RecordingRun(client, recording, replay, clock)
        run.note_times(note)
        # 3. Write messages and progress
        return run.write(producer)


class _RecordingRun:
    """A replay: the topic that there is now, and what was written when it begins."""

    def __init__(self, client: Properties, recording: Recording, replay: RecordingReplay, clock: Clock) -> None:
        self._recording = recording
        self._replay = replay
        self._clock = clock
        self._admin = KafkaAdmin(client)
        self._topic: Topic = self._admin.topics([replay.topic], option=None)[replay.topic]
        self._check_partitions()
        self._digest = recording.digest()
        self._ledger = TopicPartition(replay.topic, _LEDGER_PARTITION)
        committed, self._group_metadata = read_group_offsets(client, replay.group, [self._ledger])
        before = None if replay.again else self._decode(*committed.get(self._ledger, (0, "")))
        if before is not None:
            check_shift(replay, before.shift, recording.extent)
        self._before = before or _Progress(0, self._shift())
        self._schema_ids = SchemaIds({part: {} for part in PARTS})
        if replay.registry is not None:
            self._schema_ids = SchemaIds.registered(
                recording.schemas,
                replay.registry,
                recording.topic.name,
                replay.topic,
                registry_call(replay.registry, replay.registry_options),
            )

    def note_times(self, note: Callable[[str], None]) -> None:
        """Tell people about messages whose times or ages the topic does not keep."""
        written_time = written_time_note(self._recording.extent, self._before.shift)
        if written_time is not None:
            note(written_time)
        self._note_old_messages(note)

    def _note_old_messages(self, note: Callable[[str], None]) -> None:
        """Tell people that the topic deletes messages as old as these are."""
        oldest = self._recording.extent.oldest
        # Not everyone may look at settings
        with suppress(MillraceError):
            settings = self._admin.topic_config(self._replay.topic)
            retention = int(settings.get("retention.ms", -1))
            keeps = retention < 0 or "delete" not in settings.get("cleanup.policy", "delete")
            is_now = settings.get("message.timestamp.type") == "LogAppendTime"
            if oldest is not None and not keeps and not is_now and oldest + self._before.shift < _now_ms() - retention:
                note(
                    f"topic {self._replay.topic!r} deletes messages after {retention / 3_600_000:.4g} hours, and some "
                    f"of these are older: --shift-time moves them to the present"
                )

    def write(self, producer: TransactionalProducer) -> WrittenMessages:
        written, shift = self._before
        pace = Pace(self._replay.speed, self._clock)
        max_age_s = MAX_TRANSACTION_S if self._replay.speed is None else MAX_PACED_TRANSACTION_S
        transaction = ReplayTransaction(producer)
        try:
            for message in islice(self._recording.messages(), written, None):
                wait_s = pace.wait_s(message.timestamp)
                if wait_s > _SHORT_WAIT_S:
                    transaction.commit(self._progress(written), self._group_metadata)
                    self._clock.sleep(wait_s)
                transaction.produce(self._record(self._schema_ids.rewrite(message), shift))
                written += 1
                if transaction.size >= self._replay.transaction_size or transaction.age_s > max_age_s:
                    transaction.commit(self._progress(written), self._group_metadata)
            transaction.commit(self._progress(written), self._group_metadata)
        except BaseException:
            transaction.abort()
            raise
        return WrittenMessages(self._recording.extent.messages, self._before.written, written - self._before.written)

    def _record(self, message: RecordedMessage, shift: int) -> dict[str, Any]:
        record: dict[str, Any] = {
            "topic": self._replay.topic,
            "key": message.key,
            "value": message.value,
            "headers": message.headers,
        }
        if message.timestamp is not None:
            record["timestamp"] = message.timestamp + shift
        if self._replay.keep_partitions:
            record["partition"] = message.partition
        return record

    def _shift(self) -> int:
        if not self._replay.shift_time:
            return 0
        return shift_to_now(self._recording.extent, self._replay.speed, _now_ms())

    def _check_partitions(self) -> None:
        needed = self._recording.partition_count
        if self._replay.keep_partitions and self._topic.partitions < needed:
            raise CommandError(
                f"--keep-partitions: topic {self._replay.topic!r} has {self._topic.partitions} partitions, the "
                f"recorded one has {needed}: create a topic with as many, or let keys determine partitions"
            )

    def _progress(self, written: int) -> Iterator[ClientPartition]:
        content = {"topic": self._topic.id, "recording": self._digest, "shift": self._before.shift}
        yield ClientPartition(*self._ledger, written, json.dumps(content))

    def _decode(self, offset: int, metadata: str) -> _Progress | None:
        """Return the progress that `_progress` has committed; None for nothing, or into another topic of this name."""
        if not metadata and offset == 0:
            return None
        try:
            content = json.loads(metadata)
            topic_id, digest, shift = content["topic"], content["recording"], int(content["shift"])
        except (ValueError, KeyError, TypeError):
            digest = topic_id = None
            shift = 0
        if topic_id is not None and topic_id != self._topic.id:
            return None
        if digest != self._digest:
            raise ClientError(
                f"consumer group {self._replay.group!r} has offsets of something else than a replay of this recording: "
                f"give another one by --group"
            )
        return _Progress(offset, shift)


def check_shift(replay: RecordingReplay, shift: int, extent: Extent) -> None:
    """Check that a replay that continues can do what it is told about timestamps.

    Args:
        replay: What to do.
        shift: By how many milliseconds the replay that it continues has moved timestamps.
        extent: The extent of the recording.

    Raises:
        CommandError: That replay has not moved them, and this one is to.
    """
    if replay.shift_time and shift == 0 and extent.oldest is not None:
        raise CommandError(
            f"--shift-time: this replay would continue an earlier one into topic {replay.topic!r}, which has not moved "
            f"timestamps: leave it out, or begin anew with --again"
        )


def _now_ms() -> int:
    return int(time() * 1000)
