"""Create topics and check permissions of a Kafka cluster that is written to, on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import cast

from confluent_kafka import ConsumerGroupState, KafkaError, KafkaException
from confluent_kafka.admin import ConfigEntry, ConfigResource, NewTopic, ResourceType

from millrace.errors import ClientError
from millrace.kafka.admin import ADMINS, KafkaAdmin
from millrace.kafka.errors import kafka_error
from millrace.kafka.raw_requests import BrokerAddress
from millrace.kafka.retry import poll
from millrace.kafka.retrying_admin import UNKNOWN_TOPIC_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.worker import RESOURCES, WorkerResources

_NOT_AUTHORIZED = {KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED}

_WITHOUT_MEMBERS = {ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD, ConsumerGroupState.UNKNOWN}

_BROKER_DEFAULT = -1

_OFFSETS_TOPIC = "__consumer_offsets"


class WriteAdmin(KafkaAdmin):
    """A Kafka cluster that is written to; every request raises what `KafkaAdmin.call` does."""

    def create_missing(
        self,
        topics: Sequence[str],
        partitions: int | None = None,
        replication_factor: int | None = None,
        config: Mapping[str, str] | None = None,
    ) -> None:
        """Create missing topics, and wait until all their partitions have a leader.

        Args:
            topics: The topics; those that exist, or that another client creates meanwhile, are left alone.
            partitions: The number of partitions of a new topic; None for the brokers' default.
            replication_factor: The number of replicas of each partition; None for the brokers' default.
            config: Settings of a new topic; the brokers' defaults for all others.

        Raises:
            UnreachableError: No bootstrap server answered.
            ClientError: The client may not create a topic, the brokers refuse it, or it does not appear in time.
        """
        existing = self.topics(topics, allow_missing=topics)
        numbers = (partitions or _BROKER_DEFAULT, replication_factor or _BROKER_DEFAULT)
        missing = [topic for topic in topics if topic not in existing]
        if missing:
            self._create([NewTopic(topic, *numbers, config=dict(config or {})) for topic in missing])
        for topic in missing:
            self._await_leaders(topic)

    def check_writable(self, topics: Sequence[str], option: str = "topic") -> None:
        """Check that topics exist and that this client may write to them, where the brokers say so.

        Args:
            topics: The topics.
            option: The option that names them, for errors.

        Raises:
            UnreachableError, UnknownTopicError: As `KafkaAdmin.topics`.
            ClientError: This client may not write to some.
        """
        self.topics(topics, option=option)
        self._check_may_write(topics)

    def broker_config(self, *names: str) -> dict[str, str]:
        """Look up settings of the brokers; those that this client may not describe are left out."""
        return self.call(
            lambda timeout_s: self._request_broker_config(names, timeout_s), "looking up settings of the brokers"
        )

    def brokers(self) -> list[BrokerAddress]:
        """Look up the brokers that are alive."""
        metadata = self.call(
            lambda timeout_s: self._admin.list_topics(_OFFSETS_TOPIC, timeout=timeout_s), "looking up the brokers"
        )
        return [BrokerAddress(broker.id, broker.host, broker.port) for broker in metadata.brokers.values()]

    def groups(self) -> dict[str, bool]:
        """List all consumer groups that this client may describe, and whether each has live members.

        Raises:
            UnreachableError: A broker is down, and with it the coordinator of some groups.
        """
        return self.call(self._list_groups, "looking up consumer groups")

    def _list_groups(self, timeout_s: float) -> dict[str, bool]:
        # Each broker lists the groups that it coordinates; those that have no coordinator at the moment are in no list
        coordinators = self._leaders(_OFFSETS_TOPIC, timeout_s)
        listed = self._admin.list_consumer_groups(request_timeout=timeout_s).result()
        if listed.errors:
            raise KafkaException(kafka_error(listed.errors[0]))
        if self._leaders(_OFFSETS_TOPIC, timeout_s) != coordinators:
            reason = "groups were handed over to other brokers meanwhile"
            raise KafkaException(KafkaError(KafkaError.NOT_COORDINATOR, reason))
        return {group.group_id: group.state not in _WITHOUT_MEMBERS for group in listed.valid}

    def _check_may_write(self, topics: Sequence[str]) -> None:
        allowed = self.allowed_operations(topics)
        unwritable = [name for name, operations in allowed.items() if operations and "WRITE" not in operations]
        if unwritable:
            named = ", ".join(map(repr, unwritable))
            raise ClientError(
                f"this client may not write to topic {named}: its user needs the operation WRITE on it (an ACL)"
            )

    def _create(self, topics: Sequence[NewTopic]) -> None:
        names = ", ".join(repr(topic.topic) for topic in topics)
        action = f"creating {'topic' if len(topics) == 1 else 'topics'} {names}"
        self.call(lambda timeout_s: self._request_topics(topics, timeout_s), action)

    def _request_topics(self, topics: Sequence[NewTopic], timeout_s: float) -> None:
        requests = self._admin.create_topics(list(topics), request_timeout=timeout_s)
        for name, request in requests.items():
            try:
                request.result()
            except KafkaException as error:
                code = kafka_error(error).code()
                if code in _NOT_AUTHORIZED:
                    raise ClientError(
                        f"this client may not create topic {name!r}, which does not exist (option "
                        f"'sink.topic.create'): its user needs the operation CREATE on it or on the cluster (an ACL). "
                        f"Or let somebody create it who may"
                    ) from error
                if code != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

    def _await_leaders(self, topic: str) -> None:
        def is_ready() -> bool:
            return self.call(lambda timeout_s: self._has_leaders(topic, timeout_s), "looking up topics")

        if not poll(is_ready, timeout_s=UNKNOWN_TOPIC_TIMEOUT_S, clock=self._clock):
            raise ClientError(
                f"topic {topic!r} was created (option 'sink.topic.create'), but the brokers do not show it, with a "
                f"leader of each partition, within {UNKNOWN_TOPIC_TIMEOUT_S:.0f} s. Check that all brokers are running"
            )

    def _has_leaders(self, topic: str, timeout_s: float) -> bool:
        metadata = self._admin.list_topics(topic, timeout=timeout_s).topics[topic]
        if metadata.error is not None or not metadata.partitions:
            return False
        return all(partition.leader >= 0 for partition in metadata.partitions.values())

    def _request_broker_config(self, names: Sequence[str], timeout_s: float) -> dict[str, str]:
        broker = next(iter(self._admin.list_topics(timeout=timeout_s).brokers))
        settings = self._describe_configs([ConfigResource(ResourceType.BROKER, str(broker))], timeout_s)[0]
        return {name: settings[name] for name in names if name in settings}

    def _settings(self, described: Future[dict[str, ConfigEntry]]) -> dict[str, str]:
        """Return settings; none where this client may not describe them, since a write needs no such permission."""
        try:
            return super()._settings(described)
        except KafkaException as error:
            if kafka_error(error).code() in _NOT_AUTHORIZED:
                return {}
            raise


def write_admin_for(
    client: Properties, connect_timeout_s: float | None = None, resources: WorkerResources = RESOURCES
) -> WriteAdmin:
    """Return the process's admin client for a client configuration and timeout.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    key = (WriteAdmin, client, connect_timeout_s)
    return cast(WriteAdmin, resources.get(ADMINS, key, lambda: WriteAdmin(client, connect_timeout_s)))
