"""Logins by a real KDC: keytabs in the names of librdkafka, Java and Huawei, ticket caches, tickets that expire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from millrace.errors import ClientError, OptionsError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.property_translation import translate
from millrace.options.secrets import Properties
from support.kafka import produce
from support.waiting import wait_until

LOGIN = "com.sun.security.auth.module.Krb5LoginModule"
SERVICE = "kafka/localhost"


def write(spark: Any, options: dict[str, str], value: str) -> None:
    spark.sql(f"SELECT '{value}' AS value").write.format("millrace").options(**options).mode("append").save()


def read(spark: Any, options: dict[str, str]) -> list[str]:
    rows = spark.read.format("millrace").options(**options).schema("value BINARY").load().collect()
    return [row.value.decode() for row in rows]


def by_keytab(keytab: Any, principal: str = "alice", service: str = "kafka", **more: str) -> dict[str, str]:
    """Return properties of a login in the names of librdkafka, with an underscore for each point."""
    return {
        "sasl_kerberos_principal": principal,
        "sasl_kerberos_keytab": str(keytab),
        "sasl_kerberos_service_name": service,
        **more,
    }


def by_login_module(keytab: Any) -> dict[str, str]:
    options = f'useKeyTab=true storeKey=true keyTab="{keytab}" principal="alice" serviceName="kafka"'
    return {"sasl_jaas_config": f"{LOGIN} required {options};"}


def by_huaweis_names(keytab: Any) -> dict[str, str]:
    return {
        "sasl_kerberos_service_name": "kafka",
        "connector_auth_open": "true",
        "connector_kerberos_principal": "alice",
        "connector_kerberos_keytab": str(keytab),
        "connector_kerberos_krb5": "/etc/krb5.conf",
    }


@pytest.mark.parametrize("login", [by_keytab, by_login_module, by_huaweis_names])
def test_rows_are_written_and_read_with_tickets(spark, kerberized, login):
    topic = login.__name__
    kerberized.broker.create_topic(topic)
    options = kerberized.options(topic, **login(kerberized.keytab))

    write(spark, options, "a row")

    assert read(spark, options) == ["a row"]


def test_spark_distributes_a_keytab(spark, kerberized):
    kerberized.broker.create_topic("distributed")
    spark.sparkContext.addFile(str(kerberized.keytab))
    options = kerberized.options("distributed", **by_keytab(kerberized.keytab.name))

    write(spark, options, "a row")

    assert read(spark, options) == ["a row"]


def test_a_query_outlives_its_tickets(spark, kerberized, tmp_path):
    for topic in ("source", "copy"):
        kerberized.broker.create_topic(topic)
    # The broker asks for a login every few seconds
    login = by_keytab(kerberized.keytab, sasl_kerberos_min_time_before_relogin="3000")
    options = kerberized.options("source", **login)
    options["scan.startup.mode"] = "earliest-offset"
    target = kerberized.options("copy", **login)
    known = len(kerberized.realm.tickets("alice", SERVICE))
    query = (
        spark.readStream.format("millrace")
        .options(**options)
        .load()
        .select("value")
        .writeStream.format("millrace")
        .options(**target)
        .option("checkpointLocation", str(tmp_path))
        .start()
    )
    written: list[str] = []

    def has_outlived_tickets() -> bool:
        written.append(f"row {len(written)}")
        # Another client of the realm would get tickets for all
        produce(kerberized.broker.address("OPEN"), "source", [{"value": written[-1].encode()}])
        query.processAllAvailable()
        issued = kerberized.realm.tickets("alice", SERVICE)[known:]
        return issued[-1] - issued[0] > timedelta(seconds=3 * kerberized.ticket_life_s)

    try:
        wait_until(has_outlived_tickets, "tickets that were issued long after the first ones had expired", 120)
    finally:
        query.stop()
    # At least once: a task is tried again where a connection ends in a login
    assert set(read(spark, target)) == set(written)


class Alone:
    """The clients of this process, with a ticket cache of their own; Spark's processes get tickets at any time."""

    def __init__(self, kerberized: Any, cache: Any) -> None:
        self._kerberized = kerberized
        self.cache = cache

    def topics(self, **properties: str) -> list[str]:
        """List the topics, with an underscore for each point of a property."""
        options = self._kerberized.options("any", **properties)
        java = {name.removeprefix("properties."): value for name, value in options.items() if name != "topic"}
        client, problems, _ = translate(java)
        assert not problems
        return KafkaAdmin(Properties(client)).topic_names()


@pytest.fixture
def alone(kerberized, tmp_path, monkeypatch) -> Alone:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/tickets")
    return Alone(kerberized, tmp_path / "tickets")


def test_tickets_that_kinit_got_before_are_used_without_a_keytab(alone, kerberized):
    kerberized.broker.create_topic("cached")
    kerberized.realm.run("kinit", "-c", str(alone.cache), "-k", "-t", str(kerberized.keytab), "alice")

    assert "cached" in alone.topics(sasl_jaas_config=f"{LOGIN} required useTicketCache=true;")


def test_the_broker_knows_users_by_their_tickets(alone, kerberized):
    kerberized.broker.create_topic("of-alice")

    # Topics that a user may not see are left out
    assert alone.topics(**by_keytab(kerberized.keytab_of_bob, principal="bob")) == []


# Logins that fail, and what is told
WRONG = {
    "no tickets": (
        lambda k: {"sasl_kerberos_service_name": "kafka"},
        "kinit got no ticket; .* Without a keytab, run kinit before",
    ),
    "principal that the keytab lacks": (
        lambda k: by_keytab(k.keytab, principal="bob"),
        "kinit got no ticket; .*'properties.sasl.kerberos.principal' and 'properties.sasl.kerberos.keytab'",
    ),
    "kinit that is not there": (
        lambda k: by_keytab(k.keytab, sasl_kerberos_kinit_cmd="/nowhere/kinit"),
        "kinit got no ticket; .*Check that it is installed here",
    ),
    "service": (
        lambda k: by_keytab(k.keytab, service="kofka"),
        r"Server kofka/localhost@MILLRACE\.TEST not found in Kerberos database.*"
        r"Check 'properties\.sasl\.kerberos\.service\.name'",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_login_that_fails_is_told_with_what_to_do(alone, kerberized, wrong):
    properties, told = WRONG[wrong]

    with pytest.raises(ClientError, match=told):
        alone.topics(**properties(kerberized))


def test_a_second_principal_is_refused(alone, kerberized):
    kerberized.broker.create_topic("of-one")
    assert "of-one" in alone.topics(**by_keytab(kerberized.keytab))

    with pytest.raises(OptionsError, match="this process has logged in as 'alice' and cannot be 'bob' too"):
        alone.topics(**by_keytab(kerberized.keytab_of_bob, principal="bob"))
