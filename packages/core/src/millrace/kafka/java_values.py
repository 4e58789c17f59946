"""Convert values of Java's client properties into librdkafka's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from millrace.options.suggestions import closest
from millrace.options.values import split_address

Convert = Callable[[str], str]

_TLS_1_3_SUITE = re.compile(r"TLS_(AES|CHACHA20|SM4)_[A-Z0-9_]+")


def one_of(*choices: str) -> Convert:
    """Return a conversion that accepts some words in any case, and returns them as they are given here."""
    by_upper_case = {choice.upper(): choice for choice in choices}

    def convert(value: str) -> str:
        if value.strip().upper() in by_upper_case:
            return by_upper_case[value.strip().upper()]
        suggestion = closest(value, choices)
        hint = f" (did you mean {suggestion!r}?)" if suggestion else ""
        raise ValueError(f"expected one of {', '.join(choices)}{hint}; got {value!r}")

    return convert


def addresses(value: str) -> str:
    """Return the addresses of brokers as they are.

    Raises:
        ValueError: One is not an address, or is one of a website.
    """
    for address in filter(None, map(str.strip, value.split(","))):
        scheme, separator, rest = address.rpartition("://")
        if scheme.lower() in {"http", "https"}:
            raise ValueError(f"expected addresses as host:port,host:port, without {scheme}{separator}; got {value!r}")
        try:
            split_address(rest)
        except ValueError:
            raise ValueError(f"expected addresses as host:port,host:port; got {value!r}") from None
    return value


def whole_number(value: str) -> int:
    """Return the number that a text holds.

    Raises:
        ValueError: It holds none.
    """
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"expected a whole number; got {value!r}") from None


def clamped(lowest: int, highest: int, substitutes: Mapping[int, int] | None = None) -> Convert:
    """Return a conversion of whole numbers that moves those beyond librdkafka's range to its ends.

    Args:
        lowest: The least number that librdkafka knows.
        highest: The largest number that it knows.
        substitutes: librdkafka's numbers for those with a meaning of their own in Java.
    """

    def convert(value: str) -> str:
        number = whole_number(value)
        return str((substitutes or {}).get(number, min(max(number, lowest), highest)))

    return convert


def kilobytes(size: str) -> str:
    """Return a size in bytes in kilobytes, at least one."""
    return str(min(max(1, whole_number(size) // 1024), 2_147_483_647))


def group_name(name: str) -> str:
    """Return the name of a group, which may not be empty: confluent-kafka would end the process."""
    if not name.strip():
        raise ValueError(f"expected the name of a consumer group; got {name!r}")
    return name


def dns_lookup(value: str) -> str:
    """Return librdkafka's word for a look-up; Kafka 2.8 still knows 'default'."""
    return "use_all_dns_ips" if value.strip().lower() == "default" else value.strip()


def kinit_command(command: str) -> str:
    """Return librdkafka's default command with the program that Java's property names; a whole command is kept."""
    if " " in command.strip() or not command.strip():
        return command
    arguments = '-t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}'
    return f"{command.strip()} -R {arguments} || {command.strip()} {arguments}"


def cipher_suites(value: str) -> str:
    """Return cipher suites as OpenSSL names and separates them; suites of TLS 1.3 are always enabled there.

    Returns:
        The list; empty when nothing is left to choose.
    """
    suites = [suite.strip() for suite in re.split("[,:]", value) if suite.strip()]
    return ":".join(_openssl_suite(suite) for suite in suites if not _TLS_1_3_SUITE.fullmatch(suite))


def _openssl_suite(suite: str) -> str:
    if not suite.startswith("TLS_"):
        return suite
    name = suite.removeprefix("TLS_").removeprefix("RSA_WITH_").replace("_WITH_", "_")
    name = re.sub(r"(AES|CAMELLIA|ARIA)_(\d+)", r"\1\2", name).replace("POLY1305_SHA256", "POLY1305")
    return name.replace("_CBC_SHA", "_SHA").replace("_", "-")
