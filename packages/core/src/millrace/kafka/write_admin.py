"""What the driver asks a Kafka cluster that is written to."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, ConfigResource, NewTopic, ResourceType

from millrace.errors import ClientError
from millrace.kafka.admin import NO_TOPIC_PATIENCE_S, RETRY_PAUSE_S, KafkaAdmin
from millrace.kafka.errors import kafka_error

_NOT_PERMITTED = {KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED}

_BROKERS_DEFAULT = -1


class WriteAdmin(KafkaAdmin):
    """A Kafka cluster that is written to."""

    def create_missing(
        self, topics: Sequence[str], partitions: int | None = None, replication_factor: int | None = None
    ) -> None:
        """Create the topics that do not exist, and return when all their partitions can be written to.

        Args:
            topics: The topics; one that exists, or that somebody else creates meanwhile, stays as it is.
            partitions: How many partitions a new topic gets; None for the brokers' default.
            replication_factor: How many copies of each partition it gets; None for the brokers' default.

        Raises:
            UnreachableError: No bootstrap server answered.
            ClientError: The client may not create a topic, the brokers refuse it, or it does not appear in time.
        """
        found = self.topics(topics, may_lack=topics)
        for topic in (topic for topic in topics if topic not in found):
            self._create(NewTopic(topic, partitions or _BROKERS_DEFAULT, replication_factor or _BROKERS_DEFAULT))
            self._await_leaders(topic)

    def check_writable(self, topics: Sequence[str], option: str = "topic") -> None:
        """Refuse topics that do not exist, or that this client may not write to, as far as the brokers tell.

        Args:
            topics: The topics.
            option: The option that names them, for errors.

        Raises:
            UnreachableError, UnknownTopicError: As `KafkaAdmin.topics`.
            ClientError: This client may not write to some.
        """
        self.topics(topics, option=option)
        self._check_may_write(topics)

    def broker_setting(self, name: str) -> str | None:
        """A setting of the brokers; None when this client may not ask for it."""
        return self.ask(lambda timeout_s: self._setting(name, timeout_s), "looking up settings of the brokers")

    def groups(self) -> list[str]:
        """The names of all consumer groups that this client may see."""
        found = self.ask(
            lambda timeout_s: self._admin.list_consumer_groups(request_timeout=timeout_s).result(),
            "looking up consumer groups",
        )
        return [group.group_id for group in found.valid]

    def _check_may_write(self, topics: Sequence[str]) -> None:
        if not topics:
            return
        refused = self.ask(lambda timeout_s: self._refused(list(topics), timeout_s), "looking up permissions")
        if refused:
            named = ", ".join(map(repr, refused))
            raise ClientError(
                f"this client may not write to topic {named}: its user needs the operation WRITE on it (an ACL)"
            )

    def _create(self, topic: NewTopic) -> None:
        self.ask(lambda timeout_s: self._ask_for(topic, timeout_s), f"creating topic {topic.topic!r}")

    def _ask_for(self, topic: NewTopic, timeout_s: float) -> None:
        try:
            self._admin.create_topics([topic], request_timeout=timeout_s)[topic.topic].result()
        except KafkaException as error:
            code = kafka_error(error).code()
            if code in _NOT_PERMITTED:
                raise ClientError(
                    f"this client may not create topic {topic.topic!r}, which does not exist (option "
                    f"'sink.topic.create'): its user needs the operation CREATE on it or on the cluster (an ACL). Or "
                    f"let somebody create it who may"
                ) from error
            if code != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def _await_leaders(self, topic: str) -> None:
        deadline = time.monotonic() + NO_TOPIC_PATIENCE_S
        while not self.ask(lambda timeout_s: self._has_leaders(topic, timeout_s), "looking up topics"):
            if time.monotonic() > deadline:
                raise ClientError(
                    f"topic {topic!r} was created (option 'sink.topic.create'), but the brokers do not show it, with a "
                    f"leader of each partition, within {NO_TOPIC_PATIENCE_S:.0f} s. Check that all brokers are running"
                )
            time.sleep(RETRY_PAUSE_S)

    def _has_leaders(self, topic: str, timeout_s: float) -> bool:
        found = self._admin.list_topics(topic, timeout=timeout_s).topics[topic]
        if found.error is not None or not found.partitions:
            return False
        return all(partition.leader >= 0 for partition in found.partitions.values())

    def _refused(self, topics: list[str], timeout_s: float) -> list[str]:
        futures = self._admin.describe_topics(
            TopicCollection(topics), include_authorized_operations=True, request_timeout=timeout_s
        )
        allowed = {name: future.result().authorized_operations for name, future in futures.items()}
        return [name for name, operations in allowed.items() if operations and AclOperation.WRITE not in operations]

    def _setting(self, name: str, timeout_s: float) -> str | None:
        broker = next(iter(self._admin.list_topics(timeout=timeout_s).brokers))
        resource = ConfigResource(ResourceType.BROKER, str(broker))
        try:
            found = self._admin.describe_configs([resource], request_timeout=timeout_s)[resource].result()
        except KafkaException as error:
            if kafka_error(error).code() in _NOT_PERMITTED:
                return None
            raise
        return found[name].value if name in found else None
