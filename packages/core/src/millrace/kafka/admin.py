"""Look up topics, partitions and offsets of a Kafka cluster, on the driver."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from difflib import get_close_matches
from typing import NamedTuple

from confluent_kafka import (
    OFFSET_INVALID,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartitionInfo,
)
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import ClusterMetadata, ConfigEntry, ConfigResource, ListOffsetsResultInfo, OffsetSpec

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.kafka.consumer import KafkaConsumer, committed_offsets, consumer_for, raise_partition_errors
from millrace.kafka.errors import UNKNOWN_TOPIC_CODES, kafka_error
from millrace.kafka.retrying_admin import RetryingAdmin
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.worker import CLIENT_MAX_IDLE_S, RESOURCES, ResourceKind, WorkerResources


class Topic(NamedTuple):
    """A topic: the number of its partitions, and its id, which changes when it is deleted and created again."""

    partitions: int
    id: str


class LogBounds(NamedTuple):
    """The bounds of some partitions' logs.

    Attributes:
        begin: The earliest offset of each partition.
        end: The offset after the last visible record of each partition, see `KafkaAdmin.end`.
        leader_epochs: The epoch of the leader that reported the end (KIP-320); partitions without one are left out.
        high_watermarks: The offset after the last record of each partition, visible or not; empty unless asked for.
    """

    begin: dict[TopicPartition, int]
    end: dict[TopicPartition, int]
    leader_epochs: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]


class KafkaAdmin(RetryingAdmin):
    """A read-only view of a Kafka cluster; implements the `OffsetLookup` that offset initializers use.

    Every look-up raises what `RetryingAdmin.call` does.
    """

    def topics(
        self, names: Iterable[str], allow_missing: Collection[str] = (), option: str | None = "topic"
    ) -> dict[str, Topic]:
        """Describe topics, by name.

        Args:
            names: The topics.
            allow_missing: Those of them to leave out of the result if they do not exist.
            option: The option that names the topics, for errors; None if there is none.

        Raises:
            UnreachableError: No bootstrap server answered.
            UnknownTopicError: A topic does not exist; the message names all such topics.
        """
        requested = list(dict.fromkeys(names))
        existing = self.call(lambda timeout_s: self._describe(requested, timeout_s), "looking up topics")
        missing = [topic for topic in requested if topic not in existing and topic not in allow_missing]
        if missing:
            raise UnknownTopicError(self._unknown_topics(missing, self.topic_names(), option))
        return existing

    def topic_names(self) -> list[str]:
        """List the names of all topics that this client may describe, sorted."""
        return sorted(self.cluster_metadata().topics)

    def cluster_metadata(self) -> ClusterMetadata:
        """Look up all brokers, and all topics that this client may describe."""
        return self.call(lambda timeout_s: self._admin.list_topics(timeout=timeout_s), "looking up topics")

    def leaders(self, topic: str) -> list[int]:
        """Look up the leader of each partition of a topic of Kafka's own, which coordinates what is kept there.

        Requests that ask all brokers leave out what such a topic keeps in partitions without a leader: brokers that are
        down are not known to be asked.

        Returns:
            The numbers of the brokers; none if the topic does not exist, or may not be described by this client.

        Raises:
            UnreachableError: A partition has no leader.
        """
        return self.call(lambda timeout_s: self._leaders(topic, timeout_s), f"looking up the leaders of {topic!r}")

    def topic_config(self, topic: str) -> dict[str, str]:
        """Look up a topic's settings, such as ``cleanup.policy``; requires the permission DESCRIBE_CONFIGS."""
        return self.topic_configs([topic])[topic]

    def topic_configs(self, topics: Sequence[str]) -> dict[str, dict[str, str]]:
        """Look up the settings of some topics by one request; requires the permission DESCRIBE_CONFIGS."""
        if not topics:
            return {}
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        action = f"looking up settings of {', '.join(map(repr, topics))}"
        configs = self.call(lambda timeout_s: self._describe_configs(resources, timeout_s), action)
        return dict(zip(topics, configs, strict=True))

    def allowed_operations(self, topics: Collection[str]) -> dict[str, frozenset[str]]:
        """Look up what this client may do with topics, by Kafka's names of the operations; brokers may tell nothing."""
        if not topics:
            return {}
        return self.call(lambda timeout_s: self._allowed_operations(list(topics), timeout_s), "looking up permissions")

    def bounds(self, partitions: Collection[TopicPartition], *, with_high_watermarks: bool = False) -> LogBounds:
        """Look up `begin` and `end` of each partition, and their high watermarks if wanted, together."""
        lookups = [(OffsetSpec.earliest(), self._isolation), (OffsetSpec.latest(), self._isolation)]
        if with_high_watermarks and self._isolation is IsolationLevel.READ_COMMITTED:
            lookups.append((OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED))
        first, last, *highest = self._list_offsets(partitions, *lookups)
        epochs = {partition: result.leader_epoch for partition, result in last.items()}
        end = _offsets(last)
        return LogBounds(
            begin=_offsets(first),
            end=end,
            leader_epochs={partition: epoch for partition, epoch in epochs.items() if epoch is not None},
            high_watermarks=_offsets(highest[0]) if highest else end if with_high_watermarks else {},
        )

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the earliest offset of each partition."""
        (results,) = self._list_offsets(partitions, (OffsetSpec.earliest(), self._isolation))
        return _offsets(results)

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the offset after the last visible record of each partition.

        This is the last stable offset if ``isolation.level`` is ``read_committed``, the high watermark otherwise.
        """
        (results,) = self._list_offsets(partitions, (OffsetSpec.latest(), self._isolation))
        return _offsets(results)

    def high_watermarks(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the offset after the last record of each partition, visible or not."""
        (results,) = self._list_offsets(partitions, (OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED))
        return _offsets(results)

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Look up the offset of each partition's first record at or after a timestamp, its end if there is none.

        Args:
            partitions: The partitions.
            millis: The timestamp, in ms since 1970 UTC.
        """
        first = {partition: offset for partition, (offset, _) in self.offsets_for_timestamp(partitions, millis).items()}
        return {**first, **self.end([partition for partition, offset in first.items() if offset < 0])}

    def offsets_for_timestamp(
        self, partitions: Collection[TopicPartition], millis: int
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Look up offset and timestamp of each partition's first record at or after a timestamp; both -1 if none.

        Args:
            partitions: The partitions.
            millis: The timestamp, in ms since 1970 UTC.
        """
        (results,) = self._list_offsets(partitions, (OffsetSpec.for_timestamp(millis), self._isolation))
        return {partition: (result.offset, result.timestamp) for partition, result in results.items()}

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the consumer group's committed offsets; partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        return {partition: result.offset for partition, result in self._committed(partitions).items()}

    def committed_metadata(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, str]:
        """Look up the metadata of the consumer group's committed offsets; partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        return {partition: result.metadata or "" for partition, result in self._committed(partitions).items()}

    def commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """Commit offsets for the consumer group; waits for the brokers without a timeout.

        Args:
            offsets: The offset of each partition to read next.
            metadata: The metadata to commit with each of them.

        Raises:
            KafkaException: The offset of a partition was not committed.
            OptionsError: The option ``properties.group.id`` is not given.
        """
        partitions = [ClientPartition(*partition, offset, metadata) for partition, offset in offsets.items()]
        consumer = self._group_consumer()
        raise_partition_errors(consumer.client.commit(offsets=partitions, asynchronous=False))
        consumer.poll()

    @property
    def group(self) -> str:
        """The consumer group.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        group = self._client.get("group.id")
        if group is None:
            raise OptionsError("source", ("committed offsets are a group's: give the option 'properties.group.id'",))
        return group

    def group_members(self) -> list[str]:
        """List the live members of the consumer group, each by its client id and host.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """
        group = self.group
        description = self.call(
            lambda timeout_s: self._admin.describe_consumer_groups([group], request_timeout=timeout_s)[group].result(),
            f"looking up consumer group {group!r}",
        )
        return [f"{member.client_id} at {member.host}" for member in description.members]

    def group_names(self) -> list[str]:
        """List the names of all consumer groups that this client may describe, sorted."""
        listing = self.call(
            lambda timeout_s: self._admin.list_consumer_groups(request_timeout=timeout_s).result(),
            "looking up consumer groups",
        )
        return sorted(group.group_id for group in listing.valid)

    def _committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, ClientPartition]:
        requested = [ClientPartition(*partition) for partition in partitions]
        consumer = self._group_consumer()
        if not requested:
            return {}
        results = self.call(
            lambda timeout_s: committed_offsets(consumer.client, requested, timeout_s), "looking up committed offsets"
        )
        return {TopicPartition(result.topic, result.partition): result for result in results if result.offset >= 0}

    def _group_consumer(self) -> KafkaConsumer:
        # Not the admin client: while a group's coordinator moves, its requests for offsets wait for the old one, and
        # the answer that the group has moved crashes the process (librdkafka issue 5040)
        # No statistics: in a query that is idle nobody would poll for them, and they would pile up
        return consumer_for(Properties({**self._client, "group.id": self.group, **STATISTICS_OFF}))

    def _describe_configs(self, resources: Sequence[ConfigResource], timeout_s: float) -> list[dict[str, str]]:
        futures = self._admin.describe_configs(list(resources), request_timeout=timeout_s)
        return [self._settings(futures[resource]) for resource in resources]

    def _settings(self, described: Future[dict[str, ConfigEntry]]) -> dict[str, str]:
        return {name: entry.value for name, entry in described.result().items() if entry.value is not None}

    def _describe(self, names: list[str], timeout_s: float) -> dict[str, Topic]:
        if not names:
            return {}
        futures = self._admin.describe_topics(TopicCollection(names), request_timeout=timeout_s)
        topics = {}
        for name, future in futures.items():
            try:
                description = future.result()
            except KafkaException as error:
                if kafka_error(error).code() not in UNKNOWN_TOPIC_CODES:
                    raise
            else:
                topics[name] = Topic(len(description.partitions), str(description.topic_id))
        return topics

    def _allowed_operations(self, topics: list[str], timeout_s: float) -> dict[str, frozenset[str]]:
        futures = self._admin.describe_topics(
            TopicCollection(topics), include_authorized_operations=True, request_timeout=timeout_s
        )
        allowed = {name: future.result().authorized_operations or () for name, future in futures.items()}
        return {name: frozenset(operation.name for operation in operations) for name, operations in allowed.items()}

    def _leaders(self, topic: str, timeout_s: float) -> list[int]:
        try:
            description = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)[
                topic
            ].result()
        except KafkaException as error:
            if kafka_error(error).code() in {*UNKNOWN_TOPIC_CODES, KafkaError.TOPIC_AUTHORIZATION_FAILED}:
                return []
            raise
        without = [str(partition.id) for partition in description.partitions if _leader(partition) is None]
        if without:
            reason = f"{topic!r} has no leader in partition {', '.join(without)}: a broker is down"
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE, reason))
        return [leader for partition in description.partitions if (leader := _leader(partition)) is not None]

    def _list_offsets(
        self, partitions: Collection[TopicPartition], *lookups: tuple[OffsetSpec, IsolationLevel]
    ) -> list[dict[TopicPartition, ListOffsetsResultInfo]]:
        """Look up an offset of each partition, for each spec at its isolation level, all at once."""
        if not partitions:
            return [{} for _ in lookups]
        requests = [
            ({ClientPartition(*partition): spec for partition in partitions}, isolation) for spec, isolation in lookups
        ]
        by_spec = self.call(lambda timeout_s: self._request_offsets(requests, timeout_s), "looking up offsets")
        return [
            {TopicPartition(key.topic, key.partition): result for key, result in results.items()} for results in by_spec
        ]

    def _request_offsets(
        self, requests: list[tuple[dict[ClientPartition, OffsetSpec], IsolationLevel]], timeout_s: float
    ) -> list[dict[ClientPartition, ListOffsetsResultInfo]]:
        # All requests are sent before the first answer is awaited
        pending = [
            self._admin.list_offsets(request, isolation_level=isolation, request_timeout=timeout_s)
            for request, isolation in requests
        ]
        by_spec = [{key: future.result() for key, future in futures.items()} for futures in pending]
        if any(result.offset == OFFSET_INVALID for results in by_spec for result in results.values()):
            # The client's answer, without an error, while a partition's leader is going away
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        return by_spec

    @property
    def _isolation(self) -> IsolationLevel:
        if self._client.get("isolation.level") == "read_uncommitted":
            return IsolationLevel.READ_UNCOMMITTED
        return IsolationLevel.READ_COMMITTED

    def _unknown_topics(self, missing: list[str], existing: Collection[str], option: str | None = "topic") -> str:
        visible = sorted(name for name in existing if not name.startswith("__"))
        names = ", ".join(repr(topic) for topic in missing)
        message = f"no topic {names} at {self._servers}{f' (option {option!r})' if option else ''}"
        suggestions = get_close_matches(missing[0], visible, n=1)
        if suggestions:
            return f"{message}. Did you mean {suggestions[0]!r}? Otherwise create it first"
        listed = ", ".join(visible[:10]) or "none"
        more = f" and {len(visible) - 10} more" if len(visible) > 10 else ""
        return f"{message}. Topics there: {listed}{more}. Create it first, or check that this client may see it"


ADMINS = ResourceKind[KafkaAdmin]("admin client", capacity=8, poll=KafkaAdmin.poll, max_idle_s=CLIENT_MAX_IDLE_S)
"""Clients that read and clients that write, by their classes and configurations."""


def admin_for(client: Properties, resources: WorkerResources = RESOURCES) -> KafkaAdmin:
    """Return the process's read-only admin client for a client configuration, which stays connected.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return resources.get(ADMINS, (KafkaAdmin, client), lambda: KafkaAdmin(client))


def _offsets(results: Mapping[TopicPartition, ListOffsetsResultInfo]) -> dict[TopicPartition, int]:
    return {partition: result.offset for partition, result in results.items()}


def _leader(partition: TopicPartitionInfo) -> int | None:
    return None if partition.leader is None or partition.leader.id < 0 else partition.leader.id
