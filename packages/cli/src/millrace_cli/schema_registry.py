"""Requests to a schema registry, in the API of Confluent's that others have, too.

It is described in https://docs.confluent.io/platform/current/schema-registry/develop/api.html.
"""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit

from millrace.errors import RegistryError

_TIMEOUT_S = 10.0
_CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_NOT_FOUND = 404


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
        # It may contain a password
        raise RegistryError("--registry: expected a URL such as http://HOST:8081")
    address, headers = _split_login(url)
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": _CONTENT_TYPE, **headers})  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - checked above
            return json.load(answer)
    except HTTPError as error:
        if error.code == _NOT_FOUND:
            return None
        raise RegistryError(f"the schema registry refuses {address}: {_reason(error)}") from None
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise RegistryError(
            f"the schema registry does not answer at {address}: {reason}; a login belongs into the URL, as in "
            f"https://NAME:PASSWORD@HOST"
        ) from None


def _split_login(url: str) -> tuple[str, dict[str, str]]:
    """Split a URL into what errors may show, and the header with the login."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    address = urlunsplit(parts._replace(netloc=host))
    token = base64.b64encode(unquote(login).encode()).decode()
    return address, {"Authorization": f"Basic {token}"} if at else {}


def _reason(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{error.code} {error.reason}"
