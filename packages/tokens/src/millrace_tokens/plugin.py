"""The package's hook: names and import strings of its token providers."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_token_providers() -> Mapping[str, str]:
    """Return the names to give as ``properties.sasl.oauthbearer.provider``."""
    return {
        "aws-msk-iam": "millrace_tokens.aws_msk_iam:AwsMskIamTokens",
        "azure": "millrace_tokens.azure:AzureTokens",
        "google": "millrace_tokens.google:GoogleTokens",
    }
