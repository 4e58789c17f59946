"""Explain why a broker's certificate is not accepted; librdkafka reports only that it is not."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

_ADDRESS = re.compile(r"ssl://(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^/\s:]+)):(?P<port>\d+)")
_TIMEOUT_S = 2.0

_NO_ROOT = "unable to get issuer certificate"
"""OpenSSL's words where a chain ends with a trusted certificate that is no root."""

_HOSTNAME_MISMATCH_CODES = {62, 64}
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""


def explain_certificate_error(text: str, client: Mapping[str, str]) -> str:
    """Connect to a broker to see what is wrong with its certificate, and return that with advice.

    Args:
        text: The client's error, with the broker's address.
        client: The client's properties.
    """
    address = _ADDRESS.search(text)
    if address is None:
        return _untrusted("the broker", "certificate verify failed")
    host, port = address["v6"] or address["host"], int(address["port"])
    error = _verification_error(host, port, client)
    if error is None or error.verify_code not in _HOSTNAME_MISMATCH_CODES:
        return _untrusted(f"the broker at {host}:{port}", error.verify_message if error else "verification failed")
    return (
        f"the certificate of the broker at {host}:{port} is for another name{_dns_names(host, port)}. Connect by a "
        f"name that the certificate is for (option 'properties.bootstrap.servers', and the broker's "
        f"advertised.listeners), or turn this check off by "
        f"'properties.ssl.endpoint.identification.algorithm' with an empty value"
    )


def _untrusted(owner: str, reason: str) -> str:
    return f"the certificate of {owner} is not trusted: {reason}. {trust_advice(reason)}"


def trust_advice(reason: str) -> str:
    """Return how to trust a certificate that OpenSSL does not trust for a reason, in its words."""
    if reason == _NO_ROOT:
        return (
            "The trusted certificate is an intermediate authority's: give it by 'properties.ssl.truststore.location', "
            "which trusts each certificate by itself, or add its root's to the file of 'properties.ssl.ca.location'"
        )
    return (
        "Give the certificate of its authority by 'properties.ssl.truststore.location' with "
        "'properties.ssl.truststore.password', or as PEM by 'properties.ssl.ca.location'"
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
    """Make a TLS context trust the certificate authorities that the Kafka client trusts.

    Args:
        context: The context.
        client: The client's properties.

    Raises:
        OSError: A file cannot be read, or holds no certificates.
    """
    if "ssl.ca.pem" in client:
        context.load_verify_locations(cadata=client["ssl.ca.pem"])
    elif client.get("ssl.ca.location", "probe") != "probe":
        context.load_verify_locations(**ca_location(client["ssl.ca.location"]))
    else:
        context.load_default_certs()


def ca_location(path: str) -> dict[str, str]:
    """Return the argument of `ssl.SSLContext.load_verify_locations` for a file or folder of authorities."""
    return {"capath" if Path(path).is_dir() else "cafile": path}


def _dns_names(host: str, port: int) -> str:
    from cryptography import x509

    try:
        pem = ssl.get_server_certificate((host, port), timeout=_TIMEOUT_S)
        certificate = x509.load_pem_x509_certificate(pem.encode())
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return ""
    names = [
        *alternatives.get_values_for_type(x509.DNSName),
        *map(str, alternatives.get_values_for_type(x509.IPAddress)),
    ]
    return f": {', '.join(names)}"
