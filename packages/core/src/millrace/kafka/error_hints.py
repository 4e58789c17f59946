"""Explain librdkafka's error texts, with advice; no other module recognizes an error by its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from millrace.kafka.java_properties import JAVA_PROPERTIES
from millrace.kafka.security.certificate_check import explain_certificate_error
from millrace.options.suggestions import closest

_NO_SASL = (
    "The listener expects no SASL: set 'properties.security.protocol' to PLAINTEXT or SSL, or connect to the port of "
    "the listener with SASL"
)
_NO_SASL_OR_TOO_SOON = (
    f"{_NO_SASL}. If this client had logged in before, it has tried again within a second, which brokers refuse: give "
    f"it tokens that are valid for longer"
)
_TOO_SOON = (
    "Brokers refuse a login within a second of the last one of the same connection. The client continues with a new "
    "connection; tokens that are valid for longer, or a longer 'connections.max.reauth.ms' of the brokers, avoid it"
)
_NO_TLS = (
    "The listener does not speak TLS: set 'properties.security.protocol' to PLAINTEXT or SASL_PLAINTEXT, or connect to "
    "the port of the listener with TLS"
)
_CLIENT_CERTIFICATE = (
    "The broker wants a client certificate of an authority that it trusts: give it by "
    "'properties.ssl.keystore.location' and 'properties.ssl.keystore.password'"
)
_MECHANISM = "Set 'properties.sasl.mechanism' to one that this listener supports"
_LOGIN_ENDPOINT = (
    "Check 'properties.sasl.oauthbearer.token.endpoint.url', and clientId, clientSecret and scope in "
    "'properties.sasl.jaas.config'"
)
_LOGIN_FAILED = "Failed to acquire SASL OAUTHBEARER token"
_REJECTED_IDENTITY = (
    "The broker does not accept the token: check that the identity that 'properties.sasl.oauthbearer.provider' logs in "
    "as may connect to this cluster"
)
_SERVICE_NAME = "'properties.sasl.kerberos.service.name'"
_KEYTAB = (
    "'properties.sasl.kerberos.principal' and 'properties.sasl.kerberos.keytab', or principal and keyTab in "
    "'properties.sasl.jaas.config'"
)
_CREDENTIALS = {
    "OAUTHBEARER": "The broker does not accept the token: check its claims, in 'properties.sasl.jaas.config', against "
    "what the broker expects",
    "GSSAPI": f"Check {_SERVICE_NAME}, and {_KEYTAB}",
}

_SASL_STATE = "not valid in current SASL state"

# Errors that retrying does not change, by a part of their text; the first match counts
_SECURITY_ERRORS = (
    ("connecting to a PLAINTEXT broker listener", _NO_TLS),
    ("wrong version number", _NO_TLS),
    ("alert bad certificate", _CLIENT_CERTIFICATE),
    ("alert certificate required", _CLIENT_CERTIFICATE),
    ("alert certificate unknown", _CLIENT_CERTIFICATE),
    ("alert handshake failure", _CLIENT_CERTIFICATE),
    ("alert unknown ca", _CLIENT_CERTIFICATE),
    (_SASL_STATE, _NO_SASL),
    ("Unsupported SASL mechanism", _MECHANISM),
    (_LOGIN_FAILED, _LOGIN_ENDPOINT),
    (
        "No worthy mechs found",
        "The GSSAPI module of Cyrus SASL is not installed on this host: install libsasl2-modules-gssapi-mit or "
        "cyrus-sasl-gssapi",
    ),
    (
        "No Kerberos credentials available",
        f"kinit got no ticket; it says why on standard error. Check that it is installed here, and {_KEYTAB}: "
        "'klist -k' lists the principals of a keytab. Without a keytab, run kinit before",
    ),
    (
        "Ticket expired",
        "Give a keytab, or run kinit again; 'properties.sasl.kerberos.min.time.before.relogin', by default a minute, "
        "must be shorter than tickets live",
    ),
    (
        "not found in Kerberos database",
        f"Check {_SERVICE_NAME}, and that 'properties.bootstrap.servers' and the brokers' advertised.listeners have "
        "the host names of the brokers' principals",
    ),
    (
        "KDC for realm",
        "Check the realm and its KDC in /etc/krb5.conf, or in the file that the environment variable KRB5_CONFIG "
        "names, on this host",
    ),
)
_UNTRUSTED = "certificate verify failed"
_UNAUTHENTICATED = re.compile("SASL authentication error|SASL .*(handshake|negotiation) failed|Authentication failed")

# Of a broker that the client knows by its id, since it had logged in before: it logs in again, as its session ends
_INTERRUPTED_LOGIN = re.compile(
    r":\d+/\d+: SASL \S+ mechanism handshake failed: "
    r"(Broker: Request not valid in current SASL state|Local: Broker transport failure)"
)

_CLOSED_AT_FIRST_BYTES = re.compile(r"Disconnected.*in state APIVERSION_QUERY")
_CLOSED_AT_FIRST_REQUEST = re.compile(r"Disconnected.*in state UP")

# Errors of a broker that the client knows by its id, which it has learned from the brokers beside the address
_ADVERTISED_ADDRESS = re.compile(r"(?:^|[\s/])([^\s/]+:\d+)/(\d+): ")

_CONFIGURATION_ERRORS = (
    (
        "No provider for SASL mechanism GSSAPI",
        "the installed Kafka client has no Kerberos: the wheels of confluent-kafka are built without it. Install "
        "librdkafka, of the version of confluent-kafka or newer, with its headers and built with libsasl2, the GSSAPI "
        "module of Cyrus SASL (libsasl2-modules-gssapi-mit or cyrus-sasl-gssapi) and kinit (krb5-user or "
        "krb5-workstation), then build the client on it, for the driver and all executors: pip install --no-cache-dir "
        "--force-reinstall --no-deps --no-binary confluent-kafka confluent-kafka; millrace's page on security has all "
        "commands. If you do not want Kerberos, set 'properties.sasl.mechanism'; without it, it is GSSAPI",
    ),
    ("bad password read", "'properties.ssl.key.password' is missing: the private key is encrypted"),
    ("maybe wrong password", "'properties.ssl.key.password' is wrong"),
    ("bad decrypt", "'properties.ssl.key.password' is wrong"),
    ("key values mismatch", "the private key is not the one of the certificate: both must be of one pair"),
    (
        "sasl.username and sasl.password must be set",
        "give 'properties.sasl.jaas.config', or 'properties.sasl.username' and 'properties.sasl.password'",
    ),
)


def is_security_error(text: str) -> bool:
    """Return whether a client's error is one of TLS or SASL, which retrying does not change."""
    return not _INTERRUPTED_LOGIN.search(text) and (
        _UNTRUSTED in text
        or _UNAUTHENTICATED.search(text) is not None
        or any(part in text for part, _ in _SECURITY_ERRORS)
    )


def interrupted_login_advice(text: str) -> str | None:
    """Return advice on an error of a client that has logged in before, and goes on with a new connection."""
    match = _INTERRUPTED_LOGIN.search(text)
    return _TOO_SOON if match and match[1].startswith("Broker: Request not valid") else None


def explain_security_error(text: str, client: Mapping[str, Any]) -> str:
    """Return the text of a security error with advice.

    Args:
        text: The client's error.
        client: The client's properties.
    """
    if _UNTRUSTED in text:
        return explain_certificate_error(text, client)
    mechanism = client.get("sasl.mechanism", "GSSAPI")
    provider = client.get("oauth_cb")
    if provider is not None and _LOGIN_FAILED in text and provider.failure:
        return str(provider.failure)
    credentials_advice = (
        _REJECTED_IDENTITY if provider is not None and mechanism == "OAUTHBEARER" else _credentials_advice(mechanism)
    )
    advice = next((advice for part, advice in _SECURITY_ERRORS if part in text), credentials_advice)
    if _SASL_STATE in text and mechanism == "OAUTHBEARER":
        advice = _NO_SASL_OR_TOO_SOON
    return f"{redact(text)}. {advice}"


def _credentials_advice(mechanism: str) -> str:
    return _CREDENTIALS.get(
        mechanism,
        "Check 'properties.sasl.username' and 'properties.sasl.password', or both in 'properties.sasl.jaas.config', "
        f"and that the broker knows this user for mechanism {mechanism}",
    )


def advertised_addresses(text: str) -> dict[str, int]:
    """Return the addresses in a client's errors that brokers advertise (``advertised.listeners``), with their ids."""
    return {address: int(broker) for address, broker in _ADVERTISED_ADDRESS.findall(text)}


def protocol_mismatch_hint(line: str, client: Mapping[str, str]) -> str | None:
    """Return which ``security.protocol`` a broker expects that closes connections without an error; None if unknown.

    Args:
        line: A line of the client's log.
        client: The client's properties.
    """
    protocol = client.get("security.protocol", "PLAINTEXT")
    if _CLOSED_AT_FIRST_BYTES.search(line) and not protocol.endswith("SSL"):
        with_tls = "SSL" if protocol == "PLAINTEXT" else "SASL_SSL"
        return (
            f"The broker closes connections at their first bytes, as a listener with TLS does: set "
            f"'properties.security.protocol' to {with_tls}, with {protocol} there is no TLS"
        )
    if _CLOSED_AT_FIRST_REQUEST.search(line) and not protocol.startswith("SASL"):
        return (
            f"The broker closes connections at the first request, as a listener with SASL does: set "
            f"'properties.security.protocol' to {'SASL_SSL' if protocol == 'SSL' else 'SASL_PLAINTEXT'}, and "
            f"'properties.sasl.mechanism'; with {protocol} there is no login"
        )
    return None


def refused_option(text: str) -> str | None:
    """Return the option that a configuration error names, by the client's own name for it; None if it names none."""
    named = re.search(r'(?:configuration property:?|value for) "(?P<name>[^"]+)"', text, re.IGNORECASE)
    return f"properties.{named['name']}" if named else None


def explain_configuration_error(text: str) -> str:
    """Return the text of a configuration error, with advice if there is any."""
    unknown = re.fullmatch(r'No such configuration property: "(?P<name>[^"]+)"', text)
    if unknown:
        suggestion = closest(unknown["name"], JAVA_PROPERTIES)
        hint = f"did you mean 'properties.{suggestion}'?" if suggestion else "see docs/client-properties.md"
        return f"it has no property {unknown['name']!r}; {hint}"
    advice = next((advice for part, advice in _CONFIGURATION_ERRORS if part in text), None)
    return f"{advice} (the client says: {redact(text)})" if advice else redact(text)


def redact(text: str) -> str:
    """Return an error text without its timing and without options that it quotes, which may be secret."""
    without_time = re.sub(r" ?\(after \d+ms in state \w+(?:\(s\)|[^)])*\)", "", text)
    return re.sub(r" beginning at: .*", "", without_time, flags=re.DOTALL).strip().removesuffix(":").strip()
