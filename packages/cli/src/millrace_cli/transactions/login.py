"""TLS and SASL: from librdkafka's properties to what kafka-python connects with."""

from __future__ import annotations

import importlib.util
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millrace.errors import MachineError, OptionsError
from millrace.kafka.security.certificate_check import trust
from millrace.kafka.security.sasl import DEFAULT_MECHANISM


def login(settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for a client of kafka-python.

    Args:
        settings: A client's, as `client_settings` makes them.

    Raises:
        MachineError: A library is not installed.
        OptionsError: A file is unreadable, or no token is given out.
    """
    protocol = settings.get("security.protocol", "PLAINTEXT")
    arguments: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        arguments["ssl_context"] = tls_context(settings)
    if protocol.startswith("SASL"):
        arguments.update(_sasl(settings))
    return arguments


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """How connections are encrypted, whom they trust, and what they show.

    Raises:
        OptionsError: A file is unreadable.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.get("ssl.endpoint.identification.algorithm", "https") == "https"
    if settings.get("enable.ssl.certificate.verification", "true") == "false":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        trust(context, settings)
        if "ssl.crl.location" in settings:
            context.load_verify_locations(settings["ssl.crl.location"])
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        if "ssl.cipher.suites" in settings:
            context.set_ciphers(settings["ssl.cipher.suites"])
        if _is_given(settings, "ssl.certificate"):
            # Without a password Python would ask for it on the terminal
            password = settings.get("ssl.key.password", "")
            with _file(settings, "ssl.certificate") as chain, _file(settings, "ssl.key") as key:
                context.load_cert_chain(chain, key, password)
    except OSError as error:
        raise OptionsError("connection", (f"TLS cannot be set up by options 'properties.ssl.*': {error}",)) from error
    return context


def _sasl(settings: Mapping[str, str]) -> dict[str, Any]:
    mechanism = settings.get("sasl.mechanism", DEFAULT_MECHANISM)
    if mechanism == "OAUTHBEARER":
        from millrace_cli.transactions.token import TokenOnce

        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": TokenOnce(settings)}
    if mechanism == "GSSAPI":
        # The ticket is there: librdkafka has got it by kinit when it connected
        if importlib.util.find_spec("gssapi") is None:
            raise MachineError("transactions are listed over Kerberos by the library gssapi; run: pip install gssapi")
        name = settings.get("sasl.kerberos.service.name", "kafka")
        return {"sasl_mechanism": mechanism, "sasl_kerberos_service_name": name}
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": settings["sasl.username"],
        "sasl_plain_password": settings["sasl.password"],
    }


def _is_given(settings: Mapping[str, str], what: str) -> bool:
    return f"{what}.pem" in settings or f"{what}.location" in settings


@contextmanager
def _file(settings: Mapping[str, str], what: str) -> Iterator[Path]:
    """A file with what is given; Python reads keys from files alone."""
    if f"{what}.location" in settings:
        yield Path(settings[f"{what}.location"])
        return
    # Made so that no other user can read it
    with tempfile.NamedTemporaryFile("w", prefix="millrace-", suffix=".pem") as file:
        file.write(settings[f"{what}.pem"])
        file.flush()
        yield Path(file.name)
