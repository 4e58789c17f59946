"""The diagnosis of a connection, step by step."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from millrace.configuration.client_properties import client_properties
from millrace.diagnosis.address import Address, check_address, parse_addresses
from millrace.diagnosis.cluster import ConnectedCheck
from millrace.diagnosis.findings import Diagnosis, Finding, Level, error, warning
from millrace.diagnosis.machine import check_machine
from millrace.diagnosis.ports import LOOPBACK, MetricsPort, check_ports
from millrace.errors import MillraceError
from millrace.kafka.client_settings import client_settings
from millrace.kafka.errors import kafka_error
from millrace.options.secrets import Properties
from millrace.options.values import split_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PREFIX = "properties."
_SERVERS = "bootstrap.servers"


def diagnose(
    options: Mapping[str, str],
    *,
    topics: Collection[str] = (),
    written_topics: Collection[str] = (),
    group: str = "",
    transactional_id_prefix: str = "",
    metrics_address: str = LOOPBACK,
    spark: SparkSession | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Diagnosis:
    """Check machine, addresses, login, brokers and permissions, in the order in which a query needs them.

    Args:
        options: Kafka's client properties, with or without ``properties.``; without addresses only the machine is
            checked.
        topics: Topics that are read.
        written_topics: Topics that are written.
        group: A consumer group.
        transactional_id_prefix: Of a write with exactly-once.
        metrics_address: Where the driver receives metrics, as ``host`` or ``host:port``; empty for nowhere.
        spark: A session whose executors check, too.
        environment: The environment variables of the programs that start Spark.
    """
    findings = [*check_machine(environment), *check_ports()]
    java = {name.removeprefix(_PREFIX): value for name, value in options.items()}
    addresses: list[Address] = []
    client: Properties | None = None
    advertised: Mapping[Address, int] = {}
    if java.get(_SERVERS):
        client, problems = _client(java)
        findings += problems
    if client is not None:
        addresses, address_findings = _check_addresses(client)
        findings += address_findings
        if all(step.level != Level.ERROR for step in address_findings):
            connected = ConnectedCheck(client, client[_SERVERS])
            findings += _check_cluster(connected, addresses, topics, written_topics, group, transactional_id_prefix)
            advertised = connected.advertised
    metrics, port_findings = _metrics_port(metrics_address)
    findings += port_findings
    if spark is not None:
        from millrace.diagnosis.executors import check_executors

        driver = (metrics.host, metrics.port) if metrics is not None else None
        findings += check_executors(spark, client, addresses, advertised, driver)
    if metrics is not None:
        metrics.close()
    return Diagnosis(findings)


def _metrics_port(address: str) -> tuple[MetricsPort | None, list[Finding]]:
    """Listen at an address; None where that is not wanted, or fails."""
    if not address:
        return None, []
    try:
        port = MetricsPort(*split_address(address))
    except ValueError as failure:
        return None, [error("options", "scan.metrics.address", str(failure), "change the option")]
    finding = port.listen()
    return (port if finding.level == Level.OK else None), [finding]


def _client(java: Mapping[str, str]) -> tuple[Properties | None, list[Finding]]:
    try:
        client, problems, warnings = client_properties(java)
        if not problems:
            client_settings(client)
    except MillraceError as failure:
        problems, warnings, client = [str(failure)], [], Properties({})
    findings = [error("options", "options", problem, "change the option") for problem in problems]
    findings += [warning("options", "options", sentence, "leave the option out") for sentence in warnings]
    return (None if problems else client), findings


def _check_addresses(client: Properties) -> tuple[list[Address], list[Finding]]:
    settings = client_settings(client)
    addresses = parse_addresses(client[_SERVERS])
    steps = [check_address(address, settings) for address in addresses]
    reached = any(all(step.level != Level.ERROR for step in address_steps) for address_steps in steps)
    findings = [step for address_steps in steps for step in address_steps]
    if reached and len(addresses) > 1:
        # One address is enough for a client
        findings = [_as_warning(step) for step in findings]
    return addresses, findings


def _as_warning(step: Finding) -> Finding:
    return warning(step.check, step.target, step.message, step.remedy) if step.level == Level.ERROR else step


def _check_cluster(
    connected: ConnectedCheck,
    addresses: Sequence[Address],
    topics: Collection[str],
    written_topics: Collection[str],
    group: str,
    transactional_id_prefix: str,
) -> Iterator[Finding]:
    login = connected.login()
    yield login
    if login.level == Level.ERROR:
        yield from connected.throttling()
        return
    try:
        yield from connected.brokers(addresses)
        yield connected.clock(addresses, [*topics, *written_topics])
        if topics:
            yield from connected.topics(list(topics), writes=False)
            yield from connected.diskless(list(topics), writes=False, transactions=False)
        if written_topics:
            yield from connected.topics(list(written_topics), writes=True)
            transactions = bool(transactional_id_prefix)
            yield from connected.diskless(list(written_topics), writes=True, transactions=transactions)
        if group:
            yield connected.group(group)
        if transactional_id_prefix:
            yield connected.transactional_id(transactional_id_prefix)
        yield from connected.throttling()
    except KafkaException as failure:
        yield from connected.throttling()
        problem = kafka_error(failure).str()
        yield error("cluster", connected.servers, problem, "see the brokers' logs of this time")
