"""Why a broker's certificate is not accepted: librdkafka says only that it is not."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

_ADDRESS = re.compile(r"ssl://(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^/\s:]+)):(?P<port>\d+)")
_TIMEOUT_S = 2.0
_OTHER_NAME = {62, 64}
"""OpenSSL's codes for a certificate that is for another name or address."""


def certificate_problem(text: str, client: Mapping[str, str]) -> str:
    """What is wrong with a broker's certificate and what to do, by a look at it.

    Args:
        text: What the client said, with the broker's address.
        client: The properties that the client was made with.
    """
    found = _ADDRESS.search(text)
    if found is None:
        return _untrusted("the broker", "certificate verify failed")
    host, port = found["v6"] or found["host"], int(found["port"])
    error = _verification_error(host, port, client)
    if error is None or error.verify_code not in _OTHER_NAME:
        return _untrusted(f"the broker at {host}:{port}", error.verify_message if error else "verification failed")
    return (
        f"the certificate of the broker at {host}:{port} is for another name{_names(host, port)}. Connect by a name "
        f"that the certificate is for (option 'properties.bootstrap.servers', and the broker's advertised.listeners), "
        f"or turn this check off by 'properties.ssl.endpoint.identification.algorithm' with an empty value"
    )


def _untrusted(whose: str, why: str) -> str:
    return (
        f"the certificate of {whose} is not trusted: {why}. Give the certificate of its authority by "
        f"'properties.ssl.truststore.location' with 'properties.ssl.truststore.password', or as PEM by "
        f"'properties.ssl.ca.location'"
    )


def _verification_error(host: str, port: int, client: Mapping[str, str]) -> ssl.SSLCertVerificationError | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        trust(context, client)
        with (
            socket.create_connection((host, port), _TIMEOUT_S) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return None
    except ssl.SSLCertVerificationError as error:
        return error
    except OSError:
        return None


def trust(context: ssl.SSLContext, client: Mapping[str, str]) -> None:
    """Let a context trust the authorities that the Kafka client trusts.

    Args:
        context: The context.
        client: The properties that the client was made with.

    Raises:
        OSError: A file cannot be read, or holds no certificates.
    """
    if "ssl.ca.pem" in client:
        context.load_verify_locations(cadata=client["ssl.ca.pem"])
    elif client.get("ssl.ca.location", "probe") != "probe":
        context.load_verify_locations(**authorities_at(client["ssl.ca.location"]))
    else:
        context.load_default_certs()


def authorities_at(place: str) -> dict[str, str]:
    """A file or folder of authorities, as Python's contexts take it."""
    return {"capath" if Path(place).is_dir() else "cafile": place}


def _names(host: str, port: int) -> str:
    from cryptography import x509

    try:
        pem = ssl.get_server_certificate((host, port), timeout=_TIMEOUT_S)
        certificate = x509.load_pem_x509_certificate(pem.encode())
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return ""
    names = [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]
    return f": {', '.join(names)}"
