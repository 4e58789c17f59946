"""Tokens of Google Cloud for its Managed Service for Apache Kafka, by google-auth.

The service expects an access token inside of an envelope that has the form of a JWT, as Google's own
GcpLoginCallbackHandler makes it: header, claims and access token, each in Base64.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from typing import Any

from millrace.contracts import Token, TokenProvider
from millrace.errors import OptionsError
from millrace.options import option
from millrace.options.files import find_file
from millrace_tokens.vendor_library import vendor_library

_NAME = "google"
_PREFIX = "properties.sasl.oauthbearer.provider."
_HEADER = {"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}


@dataclass(frozen=True)
class GoogleOptions:
    """The options of the token provider ``google``."""

    service_account_file: str | None = option(
        "service-account-file",
        default=None,
        doc="The JSON file with the key of a service account, on every machine or distributed by Spark. By default the "
        "application default credentials.",
    )
    scope: str = option(
        "scope",
        default="https://www.googleapis.com/auth/cloud-platform",
        doc="The scope to ask for.",
    )
    principal: str | None = option(
        "principal",
        default=None,
        doc="The account's email address. By default that of the credentials; a user's credentials have none.",
    )


class GoogleTokens(TokenProvider):
    """Get tokens for a service account."""

    Options = GoogleOptions

    @classmethod
    def check_requirements(cls) -> None:
        """Check that google-auth is installed: see `Plugin.check_requirements`."""
        with vendor_library(_NAME, "google"):
            import google.auth.transport.requests  # noqa: F401

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        """Get a new token: see `TokenProvider.token`."""
        with vendor_library(_NAME, "google"):
            from google.auth.transport.requests import Request

        credentials = self._credentials
        self._principal()
        credentials.refresh(Request())
        # google-auth gives times without a zone, in UTC
        expires_at = credentials.expiry.replace(tzinfo=UTC).timestamp()
        # A machine's account has its name only now
        principal = self._principal()
        claims = {"exp": expires_at, "iss": "Google", "iat": time.time(), "scope": "kafka", "sub": principal}
        parts = (json.dumps(_HEADER), json.dumps(claims), credentials.token)
        return Token(".".join(map(_encode, parts)), expires_at, principal)

    @cached_property
    def _credentials(self) -> Any:
        with vendor_library(_NAME, "google"):
            import google.auth
            from google.oauth2 import service_account

        scopes = [self.options.scope]
        if self.options.service_account_file is None:
            return google.auth.default(scopes=scopes)[0]
        try:
            path = find_file(self.options.service_account_file)
        except ValueError as error:
            raise OptionsError("millrace", (f"option '{_PREFIX}service-account-file': {error}",)) from None
        return service_account.Credentials.from_service_account_file(str(path), scopes=scopes)

    def _principal(self) -> str:
        principal = self.options.principal or getattr(self._credentials, "service_account_email", None)
        if not principal:
            raise OptionsError(
                "millrace",
                (f"option '{_PREFIX}principal' is required: the credentials are those of no service account",),
            )
        return str(principal)


def _encode(part: str) -> str:
    return base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
