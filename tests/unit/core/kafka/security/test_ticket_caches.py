from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace.kafka.security.ticket_caches import TicketCaches


def by_keytab(principal: str) -> dict[str, str]:
    return {"sasl.kerberos.keytab": "/etc/me.keytab", "sasl.kerberos.principal": principal}


def test_another_principal_in_the_same_cache_is_refused() -> None:
    caches = TicketCaches({})
    caches.check(by_keytab("alice"))

    with pytest.raises(OptionsError) as error:
        caches.check(by_keytab("bob"))

    assert "'properties.sasl.kerberos.principal': this process has logged in as 'alice' and cannot be 'bob' too" in str(
        error.value
    )


def test_a_principal_without_a_realm_is_the_same() -> None:
    caches = TicketCaches({})
    for principal in ("alice@EXAMPLE.COM", "alice", "alice@EXAMPLE.COM"):
        caches.check(by_keytab(principal))

    with pytest.raises(OptionsError):
        caches.check(by_keytab("alice@EXAMPLE.ORG"))


def test_each_cache_has_a_principal_of_its_own() -> None:
    environment = {"KRB5CCNAME": "FILE:/tmp/tickets-of-alice"}
    caches = TicketCaches(environment)
    caches.check(by_keytab("alice"))
    environment["KRB5CCNAME"] = "FILE:/tmp/tickets-of-bob"

    caches.check(by_keytab("bob"))


def test_clients_without_a_keytab_log_nobody_in() -> None:
    caches = TicketCaches({})
    caches.check(by_keytab("alice"))

    caches.check({"sasl.kerberos.principal": "bob"})
