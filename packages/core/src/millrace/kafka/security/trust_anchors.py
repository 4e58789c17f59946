"""Trust each authority of a truststore by itself, as Java does; OpenSSL wants the root of each chain beside it.

librdkafka has no setting for OpenSSL's partial chains, but reads "trusted certificates" from a file: certificates with
the purposes that they are trusted for behind them, at which OpenSSL ends a chain (openssl-x509, "Trust settings").
"""

from __future__ import annotations

import functools
import os
import tempfile
from typing import TYPE_CHECKING

from millrace.kafka.security.pem import StoreError, pem_block

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_TRUSTED_FOR_SERVERS = bytes.fromhex("300c300a06082b06010505070301")
"""X509_CERT_AUX in DER: a sequence with the sequence of trusted purposes, which has id-kp-serverAuth alone."""


def trust_settings(certificates: str) -> dict[str, str]:
    """Return the client's settings that trust some certificates.

    Args:
        certificates: The certificates, as PEM.

    Raises:
        StoreError: They are servers' own, which others have signed: OpenSSL trusts authorities alone.
    """
    from cryptography import x509

    try:
        parsed = x509.load_pem_x509_certificates(certificates.encode())
        is_own_root = [certificate.issuer == certificate.subject for certificate in parsed]
        is_authority = [own or _is_authority(certificate) for certificate, own in zip(parsed, is_own_root, strict=True)]
    except ValueError:
        # What that library refuses, OpenSSL may take
        return {"ssl.ca.pem": certificates}
    if not any(is_authority):
        raise StoreError(
            "it holds servers' own certificates alone, as Java's clients trust them, and the Kafka client trusts "
            "authorities: put the certificate of the authority that has signed them into it"
        )
    if all(is_own_root):
        return {"ssl.ca.pem": certificates}
    return {"ssl.ca.location": _file_of("".join(map(_trusted, parsed)))}


def _is_authority(certificate: Certificate) -> bool:
    from cryptography import x509

    try:
        return bool(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except x509.ExtensionNotFound:
        return False


def _trusted(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return pem_block("TRUSTED CERTIFICATE", certificate.public_bytes(Encoding.DER) + _TRUSTED_FOR_SERVERS)


@functools.cache
def _file_of(pem: str) -> str:
    """Return the path of a file with public certificates that this process alone can change, and that goes with it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("millrace-truststore")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp(prefix="millrace-truststore-", suffix=".pem")
    os.write(descriptor, pem.encode())
    return path
