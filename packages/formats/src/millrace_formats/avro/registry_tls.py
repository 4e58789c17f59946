"""The files that the registry's client wants for TLS, from stores of any kind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from millrace.errors import OptionsError
from millrace.kafka.security.stores import Store, StoreError, read_store
from millrace.options.files import find_file


@contextmanager
def tls_files(format_name: str, settings: dict[str, str], key_password: str | None = None) -> Iterator[dict[str, str]]:
    """The stores as files of PEM, which are there only while the client reads them.

    Args:
        format_name: The format, for errors.
        settings: ``ssl.truststore.*`` and ``ssl.keystore.*``, as far as they are given.
        key_password: The password of the key, where it has its own.

    Yields:
        What the client takes instead.

    Raises:
        OptionsError: A file is missing, a password is wrong, or a store lacks what it is given for.
    """
    with tempfile.TemporaryDirectory(prefix="millrace-registry-") as folder:
        files = {}
        trusted = _store(format_name, "truststore", settings, None)
        if trusted is not None:
            files["ssl.ca.location"] = _written(Path(folder, "ca.pem"), trusted.trusted)
        own = _store(format_name, "keystore", settings, key_password)
        if own is not None:
            files["ssl.certificate.location"] = _written(Path(folder, "certificate.pem"), own.chain)
            files["ssl.key.location"] = _written(Path(folder, "key.pem"), own.key)
        yield files


def file_of(format_name: str, option: str, name: str) -> Path:
    """The file that an option names.

    Raises:
        OptionsError: There is none.
    """
    try:
        return find_file(name)
    except ValueError as error:
        raise OptionsError(format_name, (f"option '{format_name}.{option}': {error}",)) from None


def _store(format_name: str, kind: str, settings: dict[str, str], key_password: str | None) -> Store | None:
    location, password = settings.get(f"ssl.{kind}.location"), settings.get(f"ssl.{kind}.password")
    if location is None:
        return None
    option = f"ssl.{kind}.location"
    data = file_of(format_name, option, location).read_bytes()
    try:
        store = read_store(data, password, key_password)
    except StoreError as error:
        raise _wrong(format_name, option, str(error)) from None
    needed: dict[str, Callable[[Store], bool]] = {
        "truststore": lambda found: bool(found.trusted),
        "keystore": lambda found: bool(found.key and found.chain),
    }
    if not needed[kind](store):
        lacks = "certificate to trust" if kind == "truststore" else "key with its certificate"
        raise _wrong(format_name, option, f"it holds no {lacks}")
    return store


def _wrong(format_name: str, option: str, problem: str) -> OptionsError:
    return OptionsError(format_name, (f"option '{format_name}.{option}': {problem}",))


def _written(path: Path, text: str) -> str:
    path.touch(mode=0o600)
    path.write_text(text)
    return str(path)
