"""A token for OAUTHBEARER, from where librdkafka's properties say."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping

from millrace.errors import ClientError, OptionsError
from millrace.kafka.security.certificate_check import ca_location
from millrace_cli.transactions.kafka_python import AbstractTokenProvider

_PREFIX = "sasl.oauthbearer."
_TIMEOUT_S = 10.0
_LIFE_S = 3600


class TokenOnce(AbstractTokenProvider):
    """One token, good for the seconds that a look at the transactions takes.

    Args:
        settings: A client's, as `client_settings` makes them.

    Raises:
        ClientError: The endpoint gives no token.
        OptionsError: The properties say another way to get one than with a client's id and secret.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        if settings.get("enable.sasl.oauthbearer.unsecure.jwt") == "true":
            self._token, self._extensions = _unsecured(settings.get(f"{_PREFIX}config", ""))
        else:
            self._token = _from_endpoint(settings)
            self._extensions = _pairs(settings.get(f"{_PREFIX}extensions", "").split(","))

    def token(self) -> str:
        """The token."""
        return self._token

    def extensions(self) -> dict[str, str]:
        """What is sent beside it."""
        return self._extensions


def _unsecured(words: str) -> tuple[str, dict[str, str]]:
    """A token without a signature, and extensions, as librdkafka's configuration of it says."""
    given = _pairs(words.split())
    now = int(time.time())
    claims: dict[str, object] = {
        given.get("principalClaimName", "sub"): given.get("principal", ""),
        "iat": now,
        "exp": now + int(given.get("lifeSeconds", _LIFE_S)),
    }
    if "scope" in given:
        claims[given.get("scopeClaimName", "scope")] = given["scope"].split(",")
    extensions = {
        name.removeprefix("extension_"): value for name, value in given.items() if name.startswith("extension_")
    }
    return f"{_part({'alg': 'none'})}.{_part(claims)}.", extensions


def _from_endpoint(settings: Mapping[str, str]) -> str:
    url = settings.get(f"{_PREFIX}token.endpoint.url", "")
    if settings.get(f"{_PREFIX}method") != "oidc" or f"{_PREFIX}client.secret" not in settings or not url:
        raise OptionsError(
            "connection",
            (
                "transactions are listed with a token that 'properties.sasl.oauthbearer.token.endpoint.url' gives for "
                "clientId and clientSecret in 'properties.sasl.jaas.config'; other ways to get one are not supported",
            ),
        )
    login = f"{settings.get(f'{_PREFIX}client.id', '')}:{settings[f'{_PREFIX}client.secret']}"
    form = {"grant_type": "client_credentials"}
    if f"{_PREFIX}scope" in settings:
        form["scope"] = settings[f"{_PREFIX}scope"]
    request = urllib.request.Request(  # noqa: S310 - the address is the user's own
        url,
        urllib.parse.urlencode(form).encode(),
        {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}", "Accept": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=_trusting(settings)) as answer:  # noqa: S310
            return str(json.load(answer)["access_token"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClientError(f"no token from {url} ('properties.sasl.oauthbearer.token.endpoint.url'): {error}") from error


def _trusting(settings: Mapping[str, str]) -> ssl.SSLContext:
    place = settings.get("https.ca.location", "probe")
    given = {"cadata": settings["https.ca.pem"]} if "https.ca.pem" in settings else {}
    files = {} if place == "probe" else ca_location(place)
    return ssl.create_default_context(ssl.Purpose.SERVER_AUTH, **given, **files)


def _pairs(items: list[str]) -> dict[str, str]:
    split = (item.partition("=") for item in items if item)
    return {name: value for name, _, value in split}


def _part(claims: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
