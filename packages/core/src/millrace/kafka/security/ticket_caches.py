"""Ticket caches of Kerberos, each of which has the tickets of one principal."""

from __future__ import annotations

import os
from collections.abc import Mapping

from millrace.errors import OptionsError

_CACHE_VARIABLE = "KRB5CCNAME"

# librdkafka's
_DEFAULT_PRINCIPAL = "kafkaclient"


class TicketCaches:
    """The principals that this process has logged in by keytabs, by their ticket caches.

    A login replaces the tickets of the cache, also for clients of another principal, which would go on as that user.

    Args:
        environment: The variables of this process.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._principals: dict[str, str] = {}

    def check(self, client: Mapping[str, str]) -> None:
        """Remember the principal of a client that logs in by a keytab.

        Args:
            client: The client's properties.

        Raises:
            OptionsError: The process has logged in another principal in the same cache.
        """
        if "sasl.kerberos.keytab" not in client:
            return
        principal = client.get("sasl.kerberos.principal", _DEFAULT_PRINCIPAL)
        other = self._principals.setdefault(self._environment.get(_CACHE_VARIABLE, ""), principal)
        if not _is_same(principal, other):
            problem = (
                f"option 'properties.sasl.kerberos.principal': this process has logged in as {other!r} and cannot be "
                f"{principal!r} too, because its clients share a ticket cache. Use one principal in a Spark application"
            )
            raise OptionsError("millrace", (problem,))


def _is_same(one: str, other: str) -> bool:
    # A principal without a realm is of the default realm
    if "@" in one and "@" in other:
        return one == other
    return one.partition("@")[0] == other.partition("@")[0]


TICKET_CACHES = TicketCaches()
"""The ticket caches of this process."""
