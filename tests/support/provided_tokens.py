"""Token providers that tests name by an import string."""

from __future__ import annotations

import json
import time
import urllib.request
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from millrace.contracts import Token, TokenProvider
from millrace.options import option


@dataclass(frozen=True)
class FixedTokenOptions:
    secret: str = option("secret", default="", doc="A secret that has no effect.")
    lifetime_s: int = option("lifetime", default=3600, doc="How long the token lives, in seconds.")


class FixedToken(TokenProvider):
    """Provide the same token each time."""

    Options = FixedTokenOptions

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        return Token("fixed-5ecret", time.time() + self.options.lifetime_s, "alice")


@dataclass(frozen=True)
class EndpointOptions:
    url: str = option("url", doc="The authorization server.")
    client_id: str = option("client-id", doc="The client.")
    client_secret: str = option("client-secret", doc="Its secret.")
    purpose: str = option("purpose", default="", doc="Makes providers differ, which then share no tokens.")


class EndpointTokens(TokenProvider):
    """Request tokens from an authorization server, as a company's own provider would."""

    Options = EndpointOptions

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        login = b64encode(f"{self.options.client_id}:{self.options.client_secret}".encode()).decode()
        request = urllib.request.Request(
            f"{self.options.url}/token", b"grant_type=client_credentials", {"Authorization": f"Basic {login}"}
        )
        asked_at = time.time()
        with urllib.request.urlopen(request, timeout=5) as answer:
            given = json.load(answer)
        return Token(given["access_token"], asked_at + given["expires_in"], self.options.client_id)
