"""Changes of a cluster that have reached the brokers when they return: these answer before they know of them."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AdminClient,
    NewPartitions,
    OffsetSpec,
    UserScramCredentialUpsertion,
)

from millrace.kafka.errors import kafka_error
from support.retrying import retried, retried_all
from support.waiting import PATIENCE_S, wait_until


def admin_of(servers: str) -> AdminClient:
    """Return an admin client that does not write about brokers which come and go.

    Hold it until its answers are there: its requests end with it.
    """
    return AdminClient({"bootstrap.servers": servers, "log_level": 0})


def topic_names(servers: str) -> set[str]:
    """Return the names of all topics."""
    admin = admin_of(servers)
    return set(retried(lambda: admin.list_topics(timeout=10)).topics)


def group_names(servers: str) -> set[str]:
    """Return the names of all groups."""
    admin = admin_of(servers)

    def listed() -> set[str]:
        answer = admin.list_consumer_groups(request_timeout=30).result(PATIENCE_S)
        if answer.errors:
            raise answer.errors[0]
        return {group.group_id for group in answer.valid}

    return retried(listed)


def partitions_of(client: AdminClient, topic: str) -> list[TopicPartition]:
    """Return the partitions of a topic, as soon as the asked broker knows it; other clients than this one can do it."""

    def look_up() -> list[TopicPartition]:
        found = client.list_topics(topic, 10).topics[topic]
        if found.error:
            raise KafkaException(found.error)
        return [TopicPartition(topic, number) for number in sorted(found.partitions)]

    return retried(look_up)


def delete_topics(servers: str, topics: Iterable[str]) -> None:
    """Delete topics, and return when a client finds them no longer."""
    admin, names = admin_of(servers), list(topics)

    def delete() -> None:
        for future in admin.delete_topics(names).values():
            try:
                future.result(PATIENCE_S)
            except KafkaException as error:
                # That of an attempt before, whose answer was lost
                if kafka_error(error).code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise

    retried(delete)
    wait_until(lambda: topic_names(servers).isdisjoint(names), f"topics to be gone: {', '.join(names)}")


def add_partitions(servers: str, topic: str, total: int) -> None:
    """Add partitions to a topic, and return when their leaders serve them."""
    admin = admin_of(servers)
    retried_all(lambda: admin.create_partitions([NewPartitions(topic, total)]))
    wait_until(lambda: len(partitions_of(admin, topic)) == total, "the new partitions")
    ends = {partition: OffsetSpec.latest() for partition in partitions_of(admin, topic)}
    retried_all(lambda: admin.list_offsets(ends))


def add_permissions(servers: str, permissions: Iterable[AclBinding]) -> None:
    """Add ACLs, and return when the brokers apply them."""
    admin, added = admin_of(servers), list(permissions)
    retried_all(lambda: admin.create_acls(added))
    wait_until(lambda: all(_is_applied(admin, acl) for acl in added), "the permissions")


def remove_permissions(servers: str, permissions: Iterable[AclBinding]) -> None:
    """Remove ACLs, and return when the brokers no longer apply them."""
    admin, removed = admin_of(servers), list(permissions)
    retried_all(lambda: admin.delete_acls([_filter_of(acl) for acl in removed]))
    wait_until(lambda: not any(_is_applied(admin, acl) for acl in removed), "the permissions to go")


def _is_applied(admin: AdminClient, acl: AclBinding) -> bool:
    return bool(retried(lambda: admin.describe_acls(_filter_of(acl)).result(PATIENCE_S)))


def add_passwords(servers: str, passwords: Iterable[UserScramCredentialUpsertion]) -> None:
    """Add passwords of users for SCRAM, and return when the brokers accept them."""
    admin, added = admin_of(servers), list(passwords)
    retried_all(lambda: admin.alter_user_scram_credentials(added))
    users = [each.user for each in added]
    # Users that the brokers do not know yet are an error
    wait_until(lambda: _are_known(admin, users), "the passwords")


def _are_known(admin: AdminClient, users: list[str]) -> bool:
    try:
        retried_all(lambda: admin.describe_user_scram_credentials(users))
    except KafkaException as error:
        if kafka_error(error).code() != KafkaError.RESOURCE_NOT_FOUND:
            raise
        return False
    return True


def _filter_of(acl: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        acl.restype, acl.name, acl.resource_pattern_type, acl.principal, acl.host, acl.operation, acl.permission_type
    )
