"""TLS and SASL: translate librdkafka's properties into the arguments of kafka-python's clients."""

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
    """Return the arguments by which a client of kafka-python connects.

    Args:
        settings: Settings of a librdkafka client, as `client_settings` returns them.

    Raises:
        ClientError: The token endpoint issues no token.
        MachineError: A library is not installed.
        OptionsError: A file is unreadable, or the way to get a token is not supported.
    """
    protocol = settings.get("security.protocol", "PLAINTEXT")
    arguments: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        arguments["ssl_context"] = tls_context(settings)
    if protocol.startswith("SASL"):
        arguments.update(_sasl(settings))
    return arguments


def tls_context(
    settings: Mapping[str, str], context: ssl.SSLContext | None = None, folder: Path | None = None
) -> ssl.SSLContext:
    """Set up a TLS context: trusted authorities, revocation lists, ciphers and the client's certificate.

    Args:
        settings: Settings of a librdkafka client.
        context: The context; by default a new one.
        folder: For temporary files; by default the system's folder for them.

    Raises:
        OptionsError: A file is unreadable.
    """
    context = context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
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
        if _has(settings, "ssl.certificate"):
            # Without a password Python would prompt for it on the terminal
            password = settings.get("ssl.key.password", "")
            with (
                _pem_file(settings, "ssl.certificate", folder) as chain,
                _pem_file(settings, "ssl.key", folder) as key,
            ):
                context.load_cert_chain(chain, key, password)
    except OSError as error:
        raise OptionsError("connection", (f"TLS cannot be set up by options 'properties.ssl.*': {error}",)) from error
    return context


def _sasl(settings: Mapping[str, str]) -> dict[str, Any]:
    mechanism = settings.get("sasl.mechanism", DEFAULT_MECHANISM)
    if mechanism == "OAUTHBEARER":
        try:
            from millrace_cli.transactions.token import SingleToken
        except ImportError as error:
            raise MachineError(
                "tokens are requested with authlib and httpx2, which are not installed; run: "
                "pip install 'millrace-cli[transactions]'"
            ) from error
        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": SingleToken(settings)}
    if mechanism == "GSSAPI":
        # The ticket exists: librdkafka obtained it by kinit when it connected
        if importlib.util.find_spec("gssapi") is None:
            raise MachineError("listing transactions over Kerberos needs the library gssapi; run: pip install gssapi")
        name = settings.get("sasl.kerberos.service.name", "kafka")
        return {"sasl_mechanism": mechanism, "sasl_kerberos_service_name": name}
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": settings["sasl.username"],
        "sasl_plain_password": settings["sasl.password"],
    }


def _has(settings: Mapping[str, str], name: str) -> bool:
    return f"{name}.pem" in settings or f"{name}.location" in settings


@contextmanager
def _pem_file(settings: Mapping[str, str], name: str, folder: Path | None) -> Iterator[Path]:
    """Provide a certificate or key as a file, since Python reads them from files alone."""
    if f"{name}.location" in settings:
        yield Path(settings[f"{name}.location"])
        return
    # Readable by no other user
    with tempfile.NamedTemporaryFile("w", prefix="millrace-", suffix=".pem", dir=folder) as file:
        file.write(settings[f"{name}.pem"])
        file.flush()
        yield Path(file.name)
