"""The properties of the registry's client: which there are, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_JAVA = "schema.registry."
_OAUTH = "bearer.auth."

DEFAULTS: Mapping[str, Any] = {"timeout": 10.0, "max.retries": 3, "retries.wait.ms": 300, "retries.max.wait.ms": 3000}
"""So that a registry that does not answer is told of after half a minute; the library would wait for ever."""

FILES = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")

STORES = ("ssl.truststore.location", "ssl.truststore.password", "ssl.keystore.location", "ssl.keystore.password")

_KINDS: dict[str, Callable[[str], Any]] = {
    "timeout": float,
    "max.retries": int,
    "retries.wait.ms": int,
    "retries.max.wait.ms": int,
    "proxy": str,
    "basic.auth.user.info": str,
    "ssl.key.password": str,
    **dict.fromkeys(FILES, str),
    **dict.fromkeys(STORES, str),
}


def unknown_properties(properties: Iterable[tuple[str, str]]) -> list[str]:
    """The names of those that the client does not have."""
    return [name for name, _ in properties if _plain(name) not in _KINDS and not _plain(name).startswith(_OAUTH)]


def client_properties(properties: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The properties as the client takes them.

    Raises:
        ValueError: One that is a number is none.
    """
    found = {}
    for name, value in properties:
        kind = _KINDS.get(_plain(name), str)
        try:
            found[_plain(name)] = kind(value)
        except ValueError:
            raise ValueError(f"properties.{name} must be a number") from None
    return found


def _plain(name: str) -> str:
    # Java's client has its own prefix for what is of TLS
    return name.removeprefix(_JAVA)
