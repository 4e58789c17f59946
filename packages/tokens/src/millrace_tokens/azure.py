"""Tokens of Microsoft Entra ID for Azure Event Hubs, or for any broker that accepts them, by azure-identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from millrace.contracts import Token, TokenProvider
from millrace.errors import OptionsError
from millrace.options import option
from millrace_tokens.vendor_library import vendor_library

_NAME = "azure"


@dataclass(frozen=True)
class AzureOptions:
    """The options of the token provider ``azure``."""

    scope: str | None = option(
        "scope",
        default=None,
        doc="The scope to ask for, such as api://<application>/.default. By default that of Event Hubs, "
        "https://<host of the first broker>/.default.",
    )
    tenant_id: str | None = option("tenant-id", default=None, doc="The tenant. Required with client-secret.")
    client_id: str | None = option(
        "client-id",
        default=None,
        doc="The application to log in as or, without client-secret, the managed identity.",
    )
    client_secret: str | None = option(
        "client-secret",
        default=None,
        doc="The application's secret. By default the machine's identity logs in, as DefaultAzureCredential finds it.",
    )
    authority: str | None = option(
        "authority",
        default=None,
        doc="The host that issues tokens. By default that of AZURE_AUTHORITY_HOST, or login.microsoftonline.com.",
    )
    disable_instance_discovery: bool = option(
        "disable-instance-discovery",
        default=False,
        doc="Trust authority without asking Microsoft about it, as private clouds need.",
    )


class AzureTokens(TokenProvider):
    """Get tokens for an application with a secret, or for the identity of the machine."""

    Options = AzureOptions

    @classmethod
    def check_requirements(cls) -> None:
        """Check that azure-identity is installed: see `Plugin.check_requirements`."""
        with vendor_library(_NAME, "azure"):
            import azure.identity  # noqa: F401

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        """Get a token: see `TokenProvider.token`."""
        token = self._credential.get_token(self.options.scope or _event_hubs_scope(bootstrap_servers))
        return Token(token.token, token.expires_on)

    @cached_property
    def _credential(self) -> Any:
        options = self.options
        common: dict[str, Any] = {"disable_instance_discovery": options.disable_instance_discovery}
        if options.authority is not None:
            common["authority"] = options.authority
        with vendor_library(_NAME, "azure"):
            from azure.identity import ClientSecretCredential, DefaultAzureCredential
        if options.client_secret is None:
            if options.client_id is not None:
                common |= dict.fromkeys(
                    ("managed_identity_client_id", "workload_identity_client_id"), options.client_id
                )
            return DefaultAzureCredential(**common)
        missing = [name for name in ("tenant-id", "client-id") if getattr(options, name.replace("-", "_")) is None]
        if missing:
            names = " and ".join(f"'properties.sasl.oauthbearer.provider.{name}'" for name in missing)
            raise OptionsError("millrace", (f"'properties.sasl.oauthbearer.provider.client-secret' requires {names}",))
        return ClientSecretCredential(options.tenant_id, options.client_id, options.client_secret, **common)


def _event_hubs_scope(bootstrap_servers: Sequence[str]) -> str:
    host = bootstrap_servers[0].rpartition(":")[0] or bootstrap_servers[0]
    return f"https://{host}/.default"
