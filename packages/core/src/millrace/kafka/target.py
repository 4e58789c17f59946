"""What the driver asks a Kafka cluster that is written to."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, ConfigResource, ResourceType

from millrace.errors import ClientError
from millrace.kafka.cluster import Cluster
from millrace.kafka.errors import kafka_error

_NOT_TOLD = {KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED}


class Target(Cluster):
    """A Kafka cluster that is written to."""

    def check_may_write(self, topics: Sequence[str]) -> None:
        """Refuse topics that this client may not write to, as far as the brokers tell.

        Raises:
            ClientError: There are some.
        """
        if not topics:
            return
        refused = self.ask(lambda timeout_s: self._refused(list(topics), timeout_s), "looking up permissions")
        if refused:
            named = ", ".join(map(repr, refused))
            raise ClientError(
                f"this client may not write to topic {named}: its user needs the operation WRITE on it (an ACL)"
            )

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
            if kafka_error(error).code() in _NOT_TOLD:
                return None
            raise
        return found[name].value if name in found else None
