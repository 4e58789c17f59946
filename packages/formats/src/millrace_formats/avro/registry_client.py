"""The registry's client, made of the options, and its errors in our words."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from millrace.errors import MachineError, OptionsError, RegistryError
from millrace_formats.avro.registry_options import RegistryOptions
from millrace_formats.avro.registry_properties import DEFAULTS, FILES, STORES, client_properties
from millrace_formats.avro.registry_tls import file_of, tls_files

T = TypeVar("T")

_REFUSED = {401: "refuses to answer without a valid login", 403: "does not allow this"}


class RefusedError(Exception):
    """The registry has answered that it does not do or have what it was asked for.

    Attributes:
        code: The registry's own code of the error.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class RegistryClient:
    """A client of one registry.

    Args:
        format_name: The format, for errors.
        options: Its options.

    Raises:
        OptionsError: They cannot be used.
        MachineError: The library is not installed.
    """

    def __init__(self, format_name: str, options: RegistryOptions) -> None:
        self._name = format_name
        self.address = ",".join(_without_login(url)[0] for url in options.url.split(","))
        self._client = _make_client(format_name, options, self.address)

    def call(self, ask: Callable[[Any], T], what: str) -> T:
        """Ask the registry.

        Args:
            ask: Asks by the library's client.
            what: What it was asked for, for errors, such as ``schema 7``.

        Raises:
            RefusedError: It does not do or have that.
            RegistryError: It could not be reached, does not let this client in, or is no registry.
        """
        from confluent_kafka.schema_registry.error import OAuthTokenError, SchemaRegistryError

        try:
            return ask(self._client)
        except SchemaRegistryError as error:
            status, message = error.http_status_code, error.error_message
            if status in _REFUSED:
                raise self._error(what, f"{_REFUSED[status]} ({status}: {message}); {self._login_advice()}") from None
            if 400 <= status < 500 and error.error_code not in (-1, 404, None):
                raise RefusedError(str(message), error.error_code) from None
            advice = "; is this its whole address?" if status == 404 else ""
            raise self._error(what, f"answers {status}: {message}{advice}") from None
        except OAuthTokenError as error:
            raise self._error(what, f"needs a token, which could not be fetched: {error}") from None
        except _transport_errors() as error:
            raise self._error(what, f"cannot be reached: {error or type(error).__name__}{_advice(error)}") from None
        except ValueError as error:
            raise self._error(what, f"answers with something that is not JSON ({error}); is it a registry?") from None

    def _error(self, what: str, problem: str) -> RegistryError:
        return RegistryError(
            f"asked for {what}, the schema registry at {self.address} (option '{self._name}.url') {problem}"
        )

    def _login_advice(self) -> str:
        return f"look at the options '{self._name}.basic-auth.*' and '{self._name}.bearer-auth.*'"


@functools.lru_cache(maxsize=16)
def registry_client(format_name: str, options: RegistryOptions) -> RegistryClient:
    """This process's client for some options."""
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
            f"pip install 'millrace-formats[avro-confluent]'"
        ) from None


def _make_client(format_name: str, options: RegistryOptions, address: str) -> Any:
    check_client_installed(format_name)
    from confluent_kafka.schema_registry import SchemaRegistryClient

    try:
        settings = {**DEFAULTS, **client_properties(options.properties), **_login(options)}
    except ValueError as error:
        raise OptionsError(format_name, (str(error),)) from None
    for name in FILES:
        if name in settings:
            settings[name] = str(file_of(format_name, f"properties.{name}", settings[name]))
    given = _stores(options)
    stores = {name: given.get(name) or settings.get(name) for name in STORES}
    settings = {name: value for name, value in settings.items() if name not in STORES}
    with tls_files(
        format_name, {name: value for name, value in stores.items() if value}, settings.get("ssl.key.password")
    ) as files:
        try:
            return SchemaRegistryClient.new_client({**settings, **files, "url": address})
        except (ValueError, TypeError, OSError) as error:
            raise OptionsError(format_name, (f"the schema registry's client cannot be made: {error}",)) from None


def _stores(options: RegistryOptions) -> dict[str, str | None]:
    values = (options.truststore, options.truststore_password, options.keystore, options.keystore_password)
    return dict(zip(STORES, values, strict=True))


def _login(options: RegistryOptions) -> dict[str, str]:
    if options.basic_user_info is not None and options.basic_source != "URL":
        return {"basic.auth.user.info": options.basic_user_info}
    if options.bearer_token is not None or options.bearer_source is not None:
        return _bearer(options)
    in_url = [login for url in options.url.split(",") if (login := _without_login(url)[1])]
    return {"basic.auth.user.info": in_url[0]} if in_url else {}


def _bearer(options: RegistryOptions) -> dict[str, str]:
    own = dict(options.properties)
    token = {} if options.bearer_token is None else {"bearer.auth.token": options.bearer_token}
    # Registries of other makers have no clusters, which the library asks for
    cluster = own.get("bearer.auth.logical.cluster", "")
    source = options.bearer_source or "STATIC_TOKEN"
    return {"bearer.auth.credentials.source": source, "bearer.auth.logical.cluster": cluster, **token}


def _without_login(url: str) -> tuple[str, str | None]:
    """A URL without name and password, which would be seen in errors and logs, and these."""
    parts: SplitResult = urlsplit(url.strip())
    login, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=place)), unquote(login) if login else None


def _transport_errors() -> tuple[type[Exception], ...]:
    # The library has changed its own library for HTTP, and may have either
    loaded = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(error for module in loaded if module for error in (module.TransportError, module.InvalidURL))


def _advice(error: Exception) -> str:
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "; give the certificate of its authority by 'ssl.truststore.location'"
    if "CERTIFICATE_REQUIRED" in text or "certificate required" in text:
        return "; give a client's certificate by 'ssl.keystore.location'"
    return ""
