"""What the driver asks a Kafka cluster: topics, partitions, offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import NamedTuple, TypeVar

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
)
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ListOffsetsResultInfo, OffsetSpec

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, OptionsError, UnknownTopicError, UnreachableError
from millrace.kafka.client_log import REFUSED_S, ClientLog
from millrace.kafka.client_settings import client_settings
from millrace.kafka.consumer import checked, consumer_for, group_offsets
from millrace.kafka.errors import NO_TOPIC, client_errors, configuration_errors, is_transient, kafka_error
from millrace.options.secrets import Properties

REQUEST_TIMEOUT_S = 5.0
"""How long the first request waits for an answer; errors reach the user within 10 seconds."""

PATIENCE_S = 60.0
"""How long later requests wait: brokers that have answered before are restarting, and come back."""

NO_TOPIC_PATIENCE_S = 10.0
"""How long a topic may seem to be gone: a broker that has just started does not know its topics yet."""

FIRST_TRY_S = 1.0
"""How long the first try of a request waits: a broker that is gone does not answer, and a client that is refused stays
silent until the end of its request."""

RETRY_PAUSE_S = 0.2

CHECK = (
    "Check the address and port, that the broker is running, and that 'properties.security.protocol' is what its "
    "listener expects"
)

T = TypeVar("T")


class Topic(NamedTuple):
    """What a topic is now: how many partitions it has, and its id, which a topic that is made again has not."""

    partitions: int
    id: str


class KafkaAdmin:
    """A read-only view of a Kafka cluster; also the `OffsetLookup` that offset initializers get.

    Args:
        client: Properties for the Kafka client.
        patience_s: How long the first request waits for brokers that do not answer.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    def __init__(self, client: Properties, patience_s: float | None = None) -> None:
        self._client = client
        self._patience_s = patience_s
        self._servers = client["bootstrap.servers"]
        self._group = client.get("group.id")
        self._isolation = (
            IsolationLevel.READ_UNCOMMITTED
            if client.get("isolation.level") == "read_uncommitted"
            else IsolationLevel.READ_COMMITTED
        )
        settings = client_settings(client)
        self._watch = ClientLog(settings)
        self._has_answered = False
        with configuration_errors():
            # The client would tell that this is a consumer's property
            ours = {name: value for name, value in settings.items() if name != "isolation.level"}
            self._admin = AdminClient({**ours, **self._watch.settings()})

    def topics(
        self, names: Iterable[str], may_lack: Collection[str] = (), option: str | None = "topic"
    ) -> dict[str, Topic]:
        """What some topics are now, by name.

        Args:
            names: The topics.
            may_lack: Those of them that are left out of the answer when they do not exist.
            option: The option that names them, for errors; None when it is none.

        Raises:
            UnreachableError: No bootstrap server answered.
            UnknownTopicError: A topic does not exist; the message names all such topics.
        """
        wanted = list(dict.fromkeys(names))
        found = self.ask(lambda timeout_s: self._describe(wanted, timeout_s), "looking up topics")
        missing = [topic for topic in wanted if topic not in found and topic not in may_lack]
        if missing:
            raise UnknownTopicError(self._missing(missing, self.topic_names(), option))
        return found

    def topic_names(self) -> list[str]:
        """The names of all topics that this client may see, in order."""
        return self.ask(
            lambda timeout_s: sorted(self._admin.list_topics(timeout=timeout_s).topics), "looking up topics"
        )

    def settings_of(self, topic: str) -> dict[str, str]:
        """The settings of a topic by name, such as ``cleanup.policy``; it takes the permission to describe them."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        found = self.ask(
            lambda timeout_s: self._admin.describe_configs([resource], request_timeout=timeout_s)[resource].result(),
            f"looking up the settings of topic {topic!r}",
        )
        return {name: entry.value for name, entry in found.items() if entry.value is not None}

    def bounds(
        self, partitions: Collection[TopicPartition]
    ) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
        """The earliest offset of each partition, and the offset after its last visible record, asked for together."""
        begin, end = self._offsets(partitions, OffsetSpec.earliest(), OffsetSpec.latest())
        return begin, end

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The earliest offset of each partition."""
        return self._offsets(partitions, OffsetSpec.earliest())[0]

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last visible record of each partition."""
        return self._offsets(partitions, OffsetSpec.latest())[0]

    def end_of_log(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last record of each partition, visible or not."""
        (found,) = self._look_up(partitions, OffsetSpec.latest(), isolation=IsolationLevel.READ_UNCOMMITTED)
        return {partition: at.offset for partition, at in found.items()}

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """The offset of each partition's first record from a time on, in ms since 1970 UTC; its end without one."""
        found = {partition: offset for partition, (offset, _) in self.first_at(partitions, millis).items()}
        return {**found, **self.end([partition for partition, offset in found.items() if offset < 0])}

    def first_at(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, tuple[int, int]]:
        """Offset and timestamp of each partition's first record from a time on, in ms since 1970; -1 without one."""
        (found,) = self._look_up(partitions, OffsetSpec.for_timestamp(millis))
        return {partition: (at.offset, at.timestamp) for partition, at in found.items()}

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offsets that the consumer group has committed; partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        return {partition: at.offset for partition, at in self._committed(partitions).items()}

    def committed_metadata(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, str]:
        """What was written beside the offsets that the consumer group has committed.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        return {partition: at.metadata or "" for partition, at in self._committed(partitions).items()}

    def commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """Commit offsets for the consumer group; returns with the brokers' answer, however long that takes.

        Args:
            offsets: The offset of each partition to read next.
            metadata: What to write beside them.

        Raises:
            KafkaException: The offset of a partition was not written.
            OptionsError: The option ``properties.group.id`` is not given.
        """
        partitions = [ClientPartition(*partition, offset, metadata) for partition, offset in offsets.items()]
        checked(self._group_consumer().commit(offsets=partitions, asynchronous=False))

    @property
    def group(self) -> str:
        """The consumer group.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        if self._group is None:
            raise OptionsError("source", ("committed offsets are a group's: give the option 'properties.group.id'",))
        return self._group

    def group_members(self) -> list[str]:
        """The live members of the consumer group, each by its client id and host.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        group = self.group
        described = self.ask(
            lambda timeout_s: self._admin.describe_consumer_groups([group], request_timeout=timeout_s)[group].result(),
            f"looking up consumer group {group!r}",
        )
        return [f"{member.client_id} at {member.host}" for member in described.members]

    def _committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, ClientPartition]:
        asked = [ClientPartition(*partition) for partition in partitions]
        consumer = self._group_consumer()
        if not asked:
            return {}
        found = self.ask(lambda timeout_s: group_offsets(consumer, asked, timeout_s), "looking up committed offsets")
        return {TopicPartition(at.topic, at.partition): at for at in found if at.offset >= 0}

    def _group_consumer(self) -> Consumer:
        # Not the admin client: while a group moves from one broker to another, its requests for the group's offsets
        # wait for the broker that is gone, and the answer that the group has moved takes the whole process down
        return consumer_for(Properties({**self._client, "group.id": self.group})).consumer

    def _describe(self, names: list[str], timeout_s: float) -> dict[str, Topic]:
        if not names:
            return {}
        futures = self._admin.describe_topics(TopicCollection(names), request_timeout=timeout_s)
        found = {}
        for name, future in futures.items():
            try:
                described = future.result()
            except KafkaException as error:
                if kafka_error(error).code() not in NO_TOPIC:
                    raise
            else:
                found[name] = Topic(len(described.partitions), str(described.topic_id))
        return found

    def _offsets(self, partitions: Collection[TopicPartition], *specs: OffsetSpec) -> list[dict[TopicPartition, int]]:
        answers = self._look_up(partitions, *specs)
        return [{partition: at.offset for partition, at in found.items()} for found in answers]

    def _look_up(
        self, partitions: Collection[TopicPartition], *specs: OffsetSpec, isolation: IsolationLevel | None = None
    ) -> list[dict[TopicPartition, ListOffsetsResultInfo]]:
        if not partitions:
            return [{} for _ in specs]
        requests = [{ClientPartition(*partition): spec for partition in partitions} for spec in specs]
        answers = self.ask(
            lambda timeout_s: self._list_offsets(requests, isolation or self._isolation, timeout_s),
            "looking up offsets",
        )
        return [{TopicPartition(key.topic, key.partition): at for key, at in found.items()} for found in answers]

    def _list_offsets(
        self, requests: list[dict[ClientPartition, OffsetSpec]], isolation: IsolationLevel, timeout_s: float
    ) -> list[dict[ClientPartition, ListOffsetsResultInfo]]:
        under_way = [
            self._admin.list_offsets(request, isolation_level=isolation, request_timeout=timeout_s)
            for request in requests
        ]
        answers = [{key: future.result() for key, future in futures.items()} for futures in under_way]
        if any(at.offset == OFFSET_INVALID for found in answers for at in found.values()):
            # What the client answers, without an error, while a partition's leader is going away
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        return answers

    def ask(self, request: Callable[[float], T], doing: str) -> T:
        """The answer to a request, which gets its timeout, tried again as long as the failure may pass."""
        patience_s = PATIENCE_S if self._has_answered else self._patience_s or REQUEST_TIMEOUT_S
        started = time.monotonic()
        deadline = started + patience_s
        self._watch.clear()
        timeout_s = FIRST_TRY_S
        while True:
            left_s = deadline - time.monotonic()
            try:
                answer = request(min(timeout_s, max(left_s, RETRY_PAUSE_S)))
            except KafkaException as error:
                self._admin.poll(0)
                self._check_not_refused(doing)
                timeout_s = REQUEST_TIMEOUT_S
                cause, now = kafka_error(error), time.monotonic()
                is_late = now > deadline - 2 * RETRY_PAUSE_S
                is_gone = cause.code() in NO_TOPIC and now > started + NO_TOPIC_PATIENCE_S
                self._check(cause, doing, patience_s if is_late or is_gone else None)
                time.sleep(RETRY_PAUSE_S)
                self._forget_leaders()
            else:
                self._has_answered = True
                return answer

    def _check(self, error: KafkaError, doing: str, waited_s: float | None) -> None:
        """Raise unless a failure may pass and there is time left; ``waited_s`` is None while there is."""
        # A broker that has just started does not know its topics yet
        is_starting = self._has_answered and error.code() in NO_TOPIC
        if waited_s is not None and is_transient(error):
            raise UnreachableError(self._unreachable(waited_s, doing, error)) from KafkaException(error)
        if waited_s is not None or not (is_starting or is_transient(error)):
            with client_errors(doing):
                raise KafkaException(error)

    def _check_not_refused(self, doing: str) -> None:
        # Brokers that have answered before may be starting, and not know their users yet
        refusal = self._watch.refusal(REFUSED_S if self._has_answered else 0)
        if refusal:
            raise ClientError(
                f"connecting to Kafka at {self._servers} (option 'properties.bootstrap.servers') failed when {doing}: "
                f"{refusal}"
            )

    def _forget_leaders(self) -> None:
        # The client keeps asking the leaders it knows, with the epochs it knows, until its metadata is refreshed
        with suppress(KafkaException):
            self._admin.list_topics(timeout=FIRST_TRY_S)

    def _unreachable(self, waited_s: float, doing: str, error: KafkaError) -> str:
        said = "; ".join(filter(None, [error.str(), self._watch.said()]))
        return (
            f"no Kafka broker answered within {waited_s:.0f} s at {self._servers} (option "
            f"'properties.bootstrap.servers') when {doing}: {said}. {self._watch.hint() or CHECK}"
        )

    def _missing(self, missing: list[str], known: Collection[str], option: str | None = "topic") -> str:
        visible = sorted(name for name in known if not name.startswith("__"))
        names = ", ".join(repr(topic) for topic in missing)
        message = f"no topic {names} at {self._servers}{f' (option {option!r})' if option else ''}"
        close = get_close_matches(missing[0], visible, n=1)
        if close:
            return f"{message}. Did you mean {close[0]!r}?"
        listed = ", ".join(visible[:10]) or "none"
        more = f" and {len(visible) - 10} more" if len(visible) > 10 else ""
        return f"{message}. Topics there: {listed}{more}. Create it first, or check that this client may see it"
