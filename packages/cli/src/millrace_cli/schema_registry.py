"""Requests to a schema registry, in the API of Confluent's that others have, too.

It is described in https://docs.confluent.io/platform/current/schema-registry/develop/api.html.
"""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException, InvalidURL
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from millrace.errors import RegistryError
from millrace.options.secrets import split_login

_TIMEOUT_S = 10.0
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_NOT_FOUND = 404
# Does not show what was given: it may contain a password
_NO_URL = "--registry: expected a URL such as http://HOST:8081, or https://NAME:PASSWORD@HOST with a login"


RegistryCall = Callable[..., Any]
"""Asks a registry, with the arguments and errors of `call_registry`."""

_FORMAT = "avro-confluent"


def registry_call(url: str, options: Mapping[str, str]) -> RegistryCall:
    """Return how to ask a registry.

    Args:
        url: Its URL.
        options: Options of the formats with a registry that say how to log in, such as ``bearer-auth.token``; with
            some, the client of these formats asks.

    Raises:
        OptionsError, PluginError, MachineError: Options are wrong, or no package with the client is installed.
    """
    if not options:
        return call_registry
    from millrace.contracts import SchemaRegistryFormat
    from millrace.errors import PluginError
    from millrace.options.parser import OptionParser
    from millrace.plugins import FORMAT, plugin_manager

    plugin = plugin_manager().load(FORMAT, _FORMAT)
    plugin.check_requirements()
    parser = OptionParser("registry", {f"{_FORMAT}.{name}": text for name, text in {**options, "url": url}.items()})
    parsed = parser.take(plugin.Options, f"{_FORMAT}.")
    parser.finish()
    format_, base = plugin(parsed), url.rstrip("/") + "/"
    if not isinstance(format_, SchemaRegistryFormat):
        raise PluginError(f"format {_FORMAT!r} asks no registry: install the one of millrace-formats")
    return lambda whole, body=None: format_.request(whole.removeprefix(base), body)


def call_registry(url: str, body: object = None) -> Any:
    """Send a request to a schema registry, and return its answer.

    Args:
        url: The whole URL; may contain a login, as in ``https://NAME:PASSWORD@HOST``.
        body: What to post, as JSON; None for a request that only reads.

    Returns:
        The parsed answer; None if the registry does not have what is requested.

    Raises:
        RegistryError: The registry refuses, or does not answer. The message never contains the login.
    """
    if not url.startswith(("http://", "https://")):
        raise RegistryError(_NO_URL)
    address, login = split_login(url)
    request = _request(address, login, body)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - checked above
            return json.load(answer)
    except HTTPError as error:
        if error.code == _NOT_FOUND:
            return None
        raise RegistryError(f"the schema registry refuses {address}: {_reason(error)}") from None
    except InvalidURL:
        raise RegistryError(_NO_URL) from None
    except (URLError, OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise RegistryError(
            f"the schema registry does not answer at {address}: {reason}; a login belongs into the URL, as in "
            f"https://NAME:PASSWORD@HOST"
        ) from None


def _request(address: str, login: str | None, body: object) -> urllib.request.Request:
    headers = {"Content-Type": _CONTENT_TYPE}
    if login is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    try:
        # Reads the port, which is checked only then: a login without @ is taken for host and port
        has_host = bool(urlsplit(address).hostname) and urlsplit(address).port != 0
    except ValueError:
        has_host = False
    if not has_host:
        raise RegistryError(_NO_URL)
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.Request(address, data, headers)  # noqa: S310 - the caller has checked it


def _reason(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{error.code} {error.reason}"
