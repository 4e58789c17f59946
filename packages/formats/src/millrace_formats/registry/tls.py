"""TLS of a registry's client: truststores and keystores as the PEM files that it reads, advice on its errors."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millrace.errors import OptionsError
from millrace.kafka.security.stores import Store, StoreError, read_store
from millrace.options.files import find_file

_CERTIFICATE_REQUIRED = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
"""OpenSSL's reason where a server wants a client's certificate, see `ssl.SSLError.reason`."""


@contextmanager
def write_pem_files(
    format_name: str, settings: dict[str, str], key_password: str | None = None
) -> Iterator[dict[str, str]]:
    """Write the stores as PEM files, which exist only while the client reads them.

    Args:
        format_name: The format, for errors.
        settings: ``ssl.truststore.*`` and ``ssl.keystore.*``, those that are given.
        key_password: The password of the key, where it has its own.

    Yields:
        The client's settings that name the files.

    Raises:
        OptionsError: A file is missing, a password is wrong, or a store lacks what it is given for.
    """
    with tempfile.TemporaryDirectory(prefix="millrace-registry-") as folder:
        files = {}
        truststore = _read_store(format_name, "truststore", settings, None)
        if truststore is not None:
            files["ssl.ca.location"] = _write_private(Path(folder, "ca.pem"), truststore.trusted)
        keystore = _read_store(format_name, "keystore", settings, key_password)
        if keystore is not None:
            files["ssl.certificate.location"] = _write_private(Path(folder, "certificate.pem"), keystore.chain)
            files["ssl.key.location"] = _write_private(Path(folder, "key.pem"), keystore.key)
        yield files


def trust_partial_chains(client: Any) -> None:
    """Trust each certificate of the truststore by itself, as Java does: an intermediate's, or the registry's own.

    Args:
        client: The library's client, which has no setting for it.
    """
    context = client._rest_client.verify
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def tls_hint(error: BaseException) -> str:
    """Return advice on the TLS error that has caused an error; nothing where none has."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        # HTTP libraries hide what they translate, but keep it
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return "; give the certificate of its authority by 'ssl.truststore.location'"
    if getattr(cause, "reason", None) == _CERTIFICATE_REQUIRED:
        return "; give a client's certificate by 'ssl.keystore.location'"
    return ""


def find_option_file(format_name: str, option: str, name: str) -> Path:
    """Find the file that an option names.

    Raises:
        OptionsError: There is no such file.
    """
    try:
        return find_file(name)
    except ValueError as error:
        raise _option_error(format_name, option, str(error)) from None


def _read_store(format_name: str, kind: str, settings: dict[str, str], key_password: str | None) -> Store | None:
    location, password = settings.get(f"ssl.{kind}.location"), settings.get(f"ssl.{kind}.password")
    if location is None:
        return None
    option = f"ssl.{kind}.location"
    data = find_option_file(format_name, option, location).read_bytes()
    try:
        store = read_store(data, password, key_password)
    except StoreError as error:
        raise _option_error(format_name, option, str(error)) from None
    is_complete = bool(store.trusted) if kind == "truststore" else bool(store.key and store.chain)
    if not is_complete:
        missing = "certificate to trust" if kind == "truststore" else "key with its certificate"
        raise _option_error(format_name, option, f"it holds no {missing}")
    return store


def _option_error(format_name: str, option: str, problem: str) -> OptionsError:
    return OptionsError(format_name, (f"option '{format_name}.{option}': {problem}",))


def _write_private(path: Path, text: str) -> str:
    path.touch(mode=0o600)
    path.write_text(text)
    return str(path)
