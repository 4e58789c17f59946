"""A realm with its KDC, a broker that asks for its tickets, and a Spark session whose processes use the realm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.kdc import Kdc, kdc, missing_programs

LOGIN = "com.sun.security.auth.module.Krb5LoginModule"
SERVICE = "kafka/localhost"
TICKET_LIFE_S = 12

# Nobody else may do anything
PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:alice",
}


@dataclass(frozen=True)
class Kerberized:
    """A broker whose listener asks for tickets of a realm.

    Attributes:
        realm: The realm's KDC.
        broker: The broker.
        keytab: The keytab of alice, whose tickets live for seconds.
        keytab_of_bob: The keytab of a user who may do nothing.
        ticket_life_s: The life of the tickets of alice, in seconds.
    """

    realm: Kdc
    broker: Any
    keytab: Path
    keytab_of_bob: Path
    ticket_life_s: int = TICKET_LIFE_S

    def options(self, topic: str, **properties: str) -> dict[str, str]:
        """Return options that lead to the broker, with an underscore for each point of a property."""
        given = {
            "topic": topic,
            "properties.bootstrap.servers": self.broker.address("KERBEROS"),
            "properties.security.protocol": "SASL_PLAINTEXT",
            "properties.sasl.mechanism": "GSSAPI",
        }
        return {**given, **{f"properties.{name.replace('_', '.')}": value for name, value in properties.items()}}


@pytest.fixture(scope="session")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """The KDC, whose realm this process and those that it starts use."""
    missing = missing_programs()
    if missing:
        pytest.fail(f"not installed: {', '.join(missing)}; see docs/security.md for Kerberos's packages")
    with kdc(tmp_path_factory.mktemp("kdc")) as running, pytest.MonkeyPatch.context() as patched:
        for name in ("KRB5_CONFIG", "KRB5CCNAME"):
            patched.setenv(name, running.environment[name])
        yield running


@pytest.fixture(scope="session")
def spark(realm: Kdc, spark: Any) -> Any:
    """The session of all tests, whose processes start after the realm's settings are made."""
    return spark


@pytest.fixture(scope="session")
def kerberized(realm: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    """The broker; its clients must log in again and again (KIP-368)."""
    from millrace_broker import KafkaBroker, Listener

    keytab = realm.add(SERVICE)
    login = f'{LOGIN} required useKeyTab=true storeKey=true keyTab="{keytab}" principal="{SERVICE}";'
    config = {
        "sasl.enabled.mechanisms": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "gssapi.sasl.jaas.config": login,
        "gssapi.connections.max.reauth.ms": "4000",
    }
    with KafkaBroker(
        # Tickets are for the name of a host
        listeners=[Listener("OPEN"), Listener("KERBEROS", "SASL_PLAINTEXT", host="localhost", config=config)],
        properties=PROPERTIES,
        data_dir=tmp_path_factory.mktemp("kafka"),
        java_options=[f"-Djava.security.krb5.conf={realm.krb5_conf}", "-XX:TieredStopAtLevel=1"],
    ) as broker:
        yield Kerberized(realm, broker, realm.add("alice", f"{TICKET_LIFE_S} seconds"), realm.add("bob"))
