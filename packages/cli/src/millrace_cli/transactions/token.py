"""Provide tokens for OAUTHBEARER to kafka-python, by the properties of librdkafka's clients."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Mapping
from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from httpx2 import HTTPError, InvalidURL

from millrace.errors import ClientError, OptionsError
from millrace.kafka.security.certificate_check import ca_location
from millrace_cli.transactions.kafka_python import AbstractTokenProvider

_PREFIX = "sasl.oauthbearer."
_TIMEOUT_S = 10.0
_UNSECURED_LIFETIME_S = 3600


class SingleToken(AbstractTokenProvider):
    """A token that is obtained once, since listing transactions takes only seconds.

    Args:
        settings: Settings of a librdkafka client, as `client_settings` returns them.

    Raises:
        ClientError: The token endpoint issues no token.
        OptionsError: The properties ask for another way to get a token than by a token provider or by a client's id and
            secret.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        if "oauth_cb" in settings:
            self._token, _, _, self._extensions = settings["oauth_cb"]()
        elif settings.get("enable.sasl.oauthbearer.unsecure.jwt") == "true":
            self._token, self._extensions = _unsecured_token(settings.get(f"{_PREFIX}config", ""))
        else:
            self._token = _fetch_token(settings)
            self._extensions = _parse_pairs(settings.get(f"{_PREFIX}extensions", "").split(","))

    def token(self) -> str:
        """Return the token."""
        return self._token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions to send with the token (RFC 7628)."""
        return self._extensions


def _unsecured_token(config: str) -> tuple[str, dict[str, str]]:
    """Return a token without a signature, and extensions, by librdkafka's ``sasl.oauthbearer.config``."""
    words = _parse_pairs(config.split())
    now = int(time.time())
    claims: dict[str, object] = {
        words.get("principalClaimName", "sub"): words.get("principal", ""),
        "iat": now,
        "exp": now + int(words.get("lifeSeconds", _UNSECURED_LIFETIME_S)),
    }
    if "scope" in words:
        claims[words.get("scopeClaimName", "scope")] = words["scope"].split(",")
    extensions = {
        name.removeprefix("extension_"): value for name, value in words.items() if name.startswith("extension_")
    }
    return f"{_encode({'alg': 'none'})}.{_encode(claims)}.", extensions


def _fetch_token(settings: Mapping[str, str]) -> str:
    """Request a token with the client's credentials (RFC 6749, section 4.4)."""
    url = settings.get(f"{_PREFIX}token.endpoint.url", "")
    if settings.get(f"{_PREFIX}method") != "oidc" or f"{_PREFIX}client.secret" not in settings or not url:
        raise OptionsError(
            "connection",
            (
                "transactions are listed with a token that 'properties.sasl.oauthbearer.token.endpoint.url' gives for "
                "clientId and clientSecret in 'properties.sasl.jaas.config', or that a token provider gives; other "
                "ways to get one are not supported",
            ),
        )
    client = OAuth2Client(
        settings.get(f"{_PREFIX}client.id", ""),
        settings[f"{_PREFIX}client.secret"],
        scope=settings.get(f"{_PREFIX}scope"),
        token_endpoint_auth_method="client_secret_basic",  # noqa: S106 - a method, no password
        verify=_tls_context(settings),
        timeout=_TIMEOUT_S,
    )
    client.register_compliance_hook("access_token_response", lambda response: response.raise_for_status())
    try:
        with client:
            return str(client.fetch_token(url, grant_type="client_credentials")["access_token"])
    except (OAuthError, HTTPError, InvalidURL, OSError, ValueError, KeyError, TypeError) as error:
        raise ClientError(f"no token from {url} ('properties.sasl.oauthbearer.token.endpoint.url'): {error}") from error


def _tls_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    location = settings.get("https.ca.location", "probe")
    pem = {"cadata": settings["https.ca.pem"]} if "https.ca.pem" in settings else {}
    files = {} if location == "probe" else ca_location(location)
    return ssl.create_default_context(ssl.Purpose.SERVER_AUTH, **pem, **files)


def _parse_pairs(items: list[str]) -> dict[str, str]:
    pairs = (item.partition("=") for item in items if item)
    return {name: value for name, _, value in pairs}


def _encode(part: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
