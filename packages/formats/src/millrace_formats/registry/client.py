"""Call a schema registry by Confluent's client, and translate its errors."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from millrace.errors import MachineError, OptionsError, RegistryError
from millrace.options.secrets import split_login
from millrace_formats.registry.options import (
    CLIENT_DEFAULTS,
    PEM_FILES,
    STORES,
    RegistryOptions,
    client_properties,
)
from millrace_formats.registry.tls import find_option_file, tls_hint, trust_partial_chains, write_pem_files

T = TypeVar("T")

_LOGIN_FAILURES = {401: "refuses to answer without a valid login", 403: "does not allow this"}


class RegistryRefusalError(Exception):
    """The registry has answered that it does not have something, or does not accept it.

    Attributes:
        code: The registry's error code, see
            https://docs.confluent.io/platform/current/schema-registry/develop/api.html.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class RegistryClient:
    """A client of one registry.

    Args:
        format_name: The format, for errors.
        options: Its options.

    Attributes:
        format_name: The format.
        options: Its options.
        address: The URLs, without a login.
        library: The library's client.

    Raises:
        OptionsError: The options cannot be used.
    """

    def __init__(self, format_name: str, options: RegistryOptions) -> None:
        from confluent_kafka.schema_registry import SchemaRegistryClient

        self.format_name = format_name
        self.options = options
        self.address = ",".join(address for address, _ in _addresses(options.url))
        self.library = self._connect(SchemaRegistryClient.new_client)

    @functools.cached_property
    def keys(self) -> Any:
        """The library's client of the keys that rules of the registry encrypt messages with."""
        from confluent_kafka.schema_registry.rules.encryption.dek_registry.dek_registry_client import DekRegistryClient

        return self._connect(DekRegistryClient.new_client)

    def call(self, request: Callable[[Any], T], what: str) -> T:
        """Ask the registry.

        Args:
            request: Calls the library's client.
            what: The requested thing, for errors, such as ``schema 7``.

        Raises:
            RegistryRefusalError: The registry does not have it, or does not accept it.
            RegistryError: The registry cannot be reached, does not let this client in, or is none.
        """
        from confluent_kafka.schema_registry.error import OAuthTokenError, SchemaRegistryError

        try:
            return request(self.library)
        except SchemaRegistryError as error:
            status, message = error.http_status_code, error.error_message
            if status in _LOGIN_FAILURES:
                problem = f"{_LOGIN_FAILURES[status]} ({status}: {message})"
                raise self._error(what, f"{problem}; {self._login_hint()}") from None
            if 400 <= status < 500 and error.error_code not in (-1, 404, None):
                raise RegistryRefusalError(str(message), error.error_code) from None
            hint = "; is this its whole address?" if status == 404 else ""
            raise self._error(what, f"answers {status}: {message}{hint}") from None
        except OAuthTokenError as error:
            raise self._error(what, f"needs a token, which could not be fetched: {error}") from None
        except _transport_errors() as error:
            raise self._error(what, f"cannot be reached: {error or type(error).__name__}{tls_hint(error)}") from None
        except ValueError as error:
            raise self._error(what, f"answers with something that is not JSON ({error}); is it a registry?") from None

    def _connect(self, make: Callable[[dict[str, Any]], Any]) -> Any:
        with _client_settings(self.format_name, self.options) as settings:
            try:
                client = make({**settings, "url": self.address})
            except (ValueError, TypeError, OSError) as error:
                problem = f"the schema registry's client cannot be made: {error}"
                raise OptionsError(self.format_name, (problem,)) from None
        trust_partial_chains(client)
        return client

    def _error(self, what: str, problem: str) -> RegistryError:
        return RegistryError(
            f"asked for {what}, the schema registry at {self.address} (option '{self.format_name}.url') {problem}"
        )

    def _login_hint(self) -> str:
        return f"check the options '{self.format_name}.basic-auth.*' and '{self.format_name}.bearer-auth.*'"


@functools.lru_cache(maxsize=16)
def registry_client(format_name: str, options: RegistryOptions) -> RegistryClient:
    """Return this process's client for some options; errors as of `check_client_installed` and `RegistryClient`."""
    check_client_installed(format_name)
    return RegistryClient(format_name, options)


def check_client_installed(format_name: str) -> None:
    """Refuse a format whose library is missing.

    Raises:
        MachineError: Says how to install it.
    """
    try:
        import confluent_kafka.schema_registry  # noqa: F401
    except ImportError as error:
        raise MachineError(
            f"format {format_name!r} needs a library that is not installed ({error}): "
            f"pip install 'millrace-formats[{format_name.removeprefix('debezium-')}]'"
        ) from None


@contextmanager
def _client_settings(format_name: str, options: RegistryOptions) -> Iterator[dict[str, Any]]:
    """Yield the settings of the library's clients; the files that they name are gone afterwards."""
    try:
        settings = {**CLIENT_DEFAULTS, **client_properties(options.properties), **_login_settings(options)}
    except ValueError as error:
        raise OptionsError(format_name, (str(error),)) from None
    for name in PEM_FILES:
        if name in settings:
            settings[name] = str(find_option_file(format_name, f"properties.{name}", settings[name]))
    from_options = _store_settings(options)
    stores = {name: from_options.get(name) or settings.get(name) for name in STORES}
    settings = {name: value for name, value in settings.items() if name not in STORES}
    with write_pem_files(
        format_name, {name: value for name, value in stores.items() if value}, settings.get("ssl.key.password")
    ) as files:
        yield {**settings, **files}


def _store_settings(options: RegistryOptions) -> dict[str, str | None]:
    values = (options.truststore, options.truststore_password, options.keystore, options.keystore_password)
    return dict(zip(STORES, values, strict=True))


def _login_settings(options: RegistryOptions) -> dict[str, str]:
    if options.basic_user_info is not None and options.basic_source != "URL":
        return {"basic.auth.user.info": options.basic_user_info}
    if options.bearer_token is not None or options.bearer_source is not None:
        return _bearer_settings(options)
    logins = [login for _, login in _addresses(options.url) if login]
    return {"basic.auth.user.info": logins[0]} if logins else {}


def _bearer_settings(options: RegistryOptions) -> dict[str, str]:
    token = {} if options.bearer_token is None else {"bearer.auth.token": options.bearer_token}
    # The library requires a cluster, which registries of other vendors do not have
    cluster = dict(options.properties).get("bearer.auth.logical.cluster", "")
    source = options.bearer_source or "STATIC_TOKEN"
    return {"bearer.auth.credentials.source": source, "bearer.auth.logical.cluster": cluster, **token}


def _addresses(urls: str) -> list[tuple[str, str | None]]:
    """Return the part of each URL that errors and logs may show, with its name and password."""
    # A password may have a comma
    return [split_login(url) for url in re.split(r",(?=\s*https?://)", urls)]


def _transport_errors() -> tuple[type[Exception], ...]:
    # Versions of the library differ in the HTTP library that they use
    modules = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(error for module in modules if module for error in (module.TransportError, module.InvalidURL))
