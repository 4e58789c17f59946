"""Translate Java's OAuthBearerLoginModule into librdkafka's ways to get a token (KIP-768, KIP-255)."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.kafka.security.jaas import JaasError

_UNSECURED_PREFIX = "unsecuredLogin"

_OIDC_PROPERTIES = {
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}


def oauth_properties(options: Mapping[str, str], *, has_endpoint: bool) -> dict[str, str]:
    """Return librdkafka's properties for an OAuthBearerLoginModule.

    Args:
        options: The login module's options.
        has_endpoint: Whether ``sasl.oauthbearer.token.endpoint.url`` is given.

    Raises:
        JaasError: The options name no way to get a token, or one that librdkafka does not support.
    """
    if any(name.startswith(_UNSECURED_PREFIX) for name in options):
        return _unsecured_properties(options)
    if has_endpoint:
        return _oidc_properties(options)
    raise JaasError(
        "OAuthBearerLoginModule needs 'properties.sasl.oauthbearer.token.endpoint.url' with clientId and clientSecret, "
        "'properties.sasl.oauthbearer.provider' with the name of a token provider, "
        'or, for tests, unsecuredLoginStringClaim_sub="..."'
    )


def _oidc_properties(options: Mapping[str, str]) -> dict[str, str]:
    client = {_OIDC_PROPERTIES[name]: value for name, value in options.items() if name in _OIDC_PROPERTIES}
    extensions = {
        name.removeprefix("extension_"): value for name, value in options.items() if name.startswith("extension_")
    }
    if extensions:
        client["sasl.oauthbearer.extensions"] = ",".join(f"{name}={value}" for name, value in extensions.items())
    return {"sasl.oauthbearer.method": "oidc", **client}


def _unsecured_properties(options: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a token without a signature.

    librdkafka's ``sasl.oauthbearer.config`` is a list of words, so that no value may hold a space.
    """
    principal = options.get(f"{_UNSECURED_PREFIX}PrincipalClaimName", "sub")
    scope = options.get(f"{_UNSECURED_PREFIX}ScopeClaimName", "scope")
    librdkafka_names = {
        f"{_UNSECURED_PREFIX}PrincipalClaimName": "principalClaimName",
        f"{_UNSECURED_PREFIX}ScopeClaimName": "scopeClaimName",
        f"{_UNSECURED_PREFIX}LifetimeSeconds": "lifeSeconds",
        f"{_UNSECURED_PREFIX}StringClaim_{principal}": "principal",
        f"{_UNSECURED_PREFIX}StringClaim_{scope}": "scope",
        f"{_UNSECURED_PREFIX}ListClaim_{scope}": "scope",
    }
    words = {}
    for name, value in options.items():
        word = librdkafka_names.get(name, name.replace(f"{_UNSECURED_PREFIX}Extension_", "extension_"))
        # Java's list begins with the character that separates its items
        words[word] = ",".join(value[1:].split(value[0])) if "ListClaim_" in name and value else value
    if "principal" not in words:
        raise JaasError(f'the unsecured token needs {_UNSECURED_PREFIX}StringClaim_{principal}="..."')
    if not words.keys() <= {*librdkafka_names.values()} | {word for word in words if word.startswith("extension_")}:
        raise JaasError("the unsecured token has no other claims than the principal and the scope in librdkafka")
    if any(len(value.split()) != 1 for value in words.values()):
        raise JaasError("values of the unsecured token may be neither empty nor hold spaces")
    return {
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": " ".join(f"{word}={value}" for word, value in words.items()),
    }
