"""Check what only a client that is connected sees: its login, all brokers, and what it may do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient, ClusterMetadata, ConfigResource

from millrace.diagnosis import clock
from millrace.diagnosis.address import Address, parse_addresses
from millrace.diagnosis.advertised import check_advertised
from millrace.diagnosis.findings import Finding, Level, error, ok, warning
from millrace.errors import MillraceError, UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.client_settings import client_settings, with_reconnect_backoffs
from millrace.kafka.diskless import DISKLESS, is_diskless
from millrace.kafka.errors import configuration_errors, is_transient, kafka_error
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties

REQUEST_S = 4.0
_THROTTLE_WAIT_S = 0.3
_PAUSE_S = 0.2

_READS = (AclOperation.READ, AclOperation.DESCRIBE)
_WRITES = (AclOperation.WRITE, AclOperation.DESCRIBE)

_QUICK_RECONNECT = {"reconnect.backoff.ms": "20", "reconnect.backoff.max.ms": "100"}
"""Short pauses before the client connects again: nobody may answer at the address that it chose first."""


class ConnectedCheck:
    """Checks by one admin client.

    Args:
        client: The client's properties.
        servers: The bootstrap servers, as the user gave them.

    Attributes:
        servers: The bootstrap servers.
        advertised: The addresses that brokers advertise, with the brokers' ids; empty before `login`.
    """

    def __init__(self, client: Properties, servers: str) -> None:
        # An admin client warns of properties of consumers
        self._client = Properties({name: value for name, value in client.items() if name != "group.id"})
        self.servers = servers
        self._throttled_ms: list[int] = []
        self.advertised: dict[Address, int] = {}
        with configuration_errors():
            self._admin = self._create_client({**client_settings(self._client), **STATISTICS_OFF})

    def _create_client(self, settings: dict[str, Any]) -> AdminClient:
        paused = with_reconnect_backoffs(settings, _QUICK_RECONNECT)
        return AdminClient({**paused, "throttle_cb": self._note_throttling})

    def _note_throttling(self, event: Any) -> None:
        self._throttled_ms.append(round(event.throttle_time * 1000))

    def login(self) -> Finding:
        """Log in with Kafka's own client, and look the topics up, as a query does."""
        started = time.monotonic()
        try:
            metadata = self._cluster_metadata()
        except MillraceError as failure:
            if isinstance(failure, UnreachableError) and self._takes_advertised(failure.advertised):
                message = "connected; topics were not looked up, since brokers do not answer where they are advertised"
                return ok("login", self.servers, message)
            advice = "see what it says; with a wrong user or password, the brokers' logs name the user"
            return error("login", self.servers, str(failure), advice)
        took = time.monotonic() - started
        self.advertised = {Address(broker.host, broker.port): broker.id for broker in metadata.brokers.values()}
        return ok("login", self.servers, f"connected in {took:.1f} s; this user sees {len(metadata.topics)} topics")

    def _cluster_metadata(self) -> ClusterMetadata:
        try:
            return KafkaAdmin(self._client, REQUEST_S, create_client=self._create_client).cluster_metadata()
        except UnreachableError as failure:
            if failure.advertised:
                raise
            # The client may have waited for a broker that does not answer, and another client may ask another one
            return KafkaAdmin(self._client, REQUEST_S, create_client=self._create_client).cluster_metadata()

    def _takes_advertised(self, advertised: Mapping[str, int]) -> bool:
        """Keep addresses at which no broker answered the client, and return whether one cannot be reached from here."""
        self.advertised = {parse_addresses(address)[0]: broker for address, broker in advertised.items()}
        return any(finding.level == Level.ERROR for finding in self.brokers(()))

    def brokers(self, known: Sequence[Address]) -> list[Finding]:
        """Check every address that the brokers advertise, as of `login`.

        Args:
            known: Addresses that have been checked.
        """
        return check_advertised(self.advertised, known, self.servers, client_settings(self._client))

    def topics(self, names: Sequence[str], *, writes: bool) -> list[Finding]:
        """Check that topics exist, and what this user may do with them."""
        described = self._admin.describe_topics(
            TopicCollection(list(names)), include_authorized_operations=True, request_timeout=REQUEST_S
        )
        return [
            self._allowed("topic", name, self._result(future), _WRITES if writes else _READS)
            for name, future in described.items()
        ]

    def diskless(self, names: Sequence[str], *, writes: bool, transactions: bool) -> Iterator[Finding]:
        """Find topics without transactions, which neither exactly-once nor a compacted table can be written to.

        Args:
            names: The topics; those whose settings this user may not see are left out.
            writes: Whether they are written.
            transactions: Whether they are written in transactions.
        """
        resources = {name: ConfigResource(ConfigResource.Type.TOPIC, name) for name in names}
        described = self._admin.describe_configs(list(resources.values()), request_timeout=REQUEST_S)
        for name, resource in resources.items():
            entries = self._result(described[resource])
            if not isinstance(entries, KafkaException):
                settings = {setting: entry.value for setting, entry in entries.items() if entry.value is not None}
                yield from diskless_findings(name, settings, writes=writes, transactions=transactions)

    def group(self, name: str) -> Finding:
        """Check what this user may do with a consumer group."""
        until = time.monotonic() + REQUEST_S
        while True:
            described = self._admin.describe_consumer_groups(
                [name], include_authorized_operations=True, request_timeout=REQUEST_S
            )
            result = self._result(described[name])
            # A cluster that has had no group yet makes the topic of their offsets first
            is_coming = isinstance(result, KafkaException) and is_transient(kafka_error(result))
            if not is_coming or time.monotonic() > until:
                break
            time.sleep(_PAUSE_S)
        code = kafka_error(result).code() if isinstance(result, KafkaException) else None
        if code == KafkaError.GROUP_ID_NOT_FOUND:
            return ok("group", name, "there is no such group yet, and this user may look for it")
        if code == KafkaError._TIMED_OUT:
            message = f"no broker described the group within {REQUEST_S:.0f} s"
            return warning(
                "group", name, message, "try again: a new cluster first creates the topic of groups' offsets"
            )
        return self._allowed("group", name, result, _READS)

    def transactional_id(self, prefix: str) -> Finding:
        """Check that this user may write in transactions whose ids begin with a prefix, by one that no query uses."""
        transactional_id = f"{prefix}-millrace-doctor"
        settings = {**client_settings(self._client), **STATISTICS_OFF, "transactional.id": transactional_id}
        with configuration_errors():
            producer = Producer(settings)
        try:
            producer.init_transactions(REQUEST_S)
        except KafkaException as failure:
            return error(
                "transactional id",
                prefix,
                f"this user may not write in transactions: {kafka_error(failure).str()}",
                f"let the administrator allow WRITE and DESCRIBE on the transactional ids that begin with {prefix!r}: "
                f"kafka-acls.sh --add --transactional-id {prefix} --resource-pattern-type prefixed --operation Write "
                f"--operation Describe --allow-principal User:<user>",
            )
        return ok("transactional id", prefix, "this user may write in transactions whose ids begin so")

    def clock(self, addresses: Sequence[Address], topics: Sequence[str]) -> Finding:
        """Compare the clock of brokers with this host's, as far as they show it.

        Args:
            addresses: Addresses that have been checked.
            topics: Topics of the query.
        """
        protocol = self._client.get("security.protocol", "PLAINTEXT").upper()
        reading = None if protocol.startswith("SASL") else clock.controller_clock(addresses, protocol)
        if reading is not None:
            return clock.compare(reading, "the clock of the brokers' controller", self.servers)
        newest = clock.newest_broker_time(self._admin, topics, REQUEST_S)
        if newest is None:
            message = "brokers do not show this user their clocks; only those of driver and executors are compared"
            return ok("clock", self.servers, message)
        return clock.compare_past(*newest)

    def throttling(self) -> Iterator[Finding]:
        """Tell whether brokers have delayed the answers to this client."""
        self._admin.poll(_THROTTLE_WAIT_S)
        if any(self._throttled_ms):
            yield warning(
                "quota",
                self.servers,
                f"brokers delay answers to this client by up to {max(self._throttled_ms)} ms, since a quota is used up",
                "let the administrator raise the quota of this user or client id: kafka-configs.sh --describe "
                "--entity-type users (and clients) shows producer_byte_rate, consumer_byte_rate and "
                "request_percentage; or read and write less at once, by 'scan.max-bytes-per-batch'",
            )

    def _result(self, future: Any) -> Any:
        try:
            return future.result(REQUEST_S)
        except KafkaException as failure:
            return failure

    def _allowed(self, kind: str, name: str, described: Any, wanted: Sequence[AclOperation]) -> Finding:
        if isinstance(described, KafkaException):
            return error(
                kind,
                name,
                kafka_error(described).str(),
                f"check its name, and let the administrator allow {_words(wanted)} on {kind} {name!r}",
            )
        operations = described.authorized_operations
        missing = [operation for operation in wanted if operations is not None and operation not in operations]
        if missing:
            flag = {"topic": "--topic", "group": "--group"}[kind]
            arguments = " ".join(f"--operation {operation.name.capitalize()}" for operation in missing)
            return error(
                kind,
                name,
                f"this user may not {_words(missing)}",
                f"kafka-acls.sh --add {flag} {name} {arguments} --allow-principal User:<user>",
            )
        return ok(kind, name, f"this user may {_words(wanted)}")


def diskless_findings(
    topic: str, settings: Mapping[str, str], *, writes: bool, transactions: bool
) -> Iterator[Finding]:
    """Yield what a topic's settings say of transactions and compaction; arguments as of `ConnectedCheck.diskless`."""
    if not is_diskless(settings):
        return
    said = f"it is diskless ({DISKLESS} = true): it has no transactions and is never compacted"
    if writes and transactions:
        advice = "set 'sink.delivery-guarantee' to at-least-once, or write to a topic that is not diskless"
        yield error("topic", topic, said, advice)
    elif writes:
        advice = "write neither with exactly-once nor the rows of an upsert table to it"
        yield warning("topic", topic, said, advice)
    else:
        advice = (
            "if its brokers refuse reads of committed records, set 'properties.isolation.level' to read_uncommitted"
        )
        yield warning("topic", topic, said, advice)


def _words(operations: Sequence[AclOperation]) -> str:
    return " and ".join(operation.name for operation in operations)
