"""OAUTHBEARER: from Java's login module to librdkafka's ways to get a token."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.kafka.security.jaas import JaasError

_UNSECURED = "unsecuredLogin"

_OIDC_OPTIONS = {
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}


def oauth_properties(options: Mapping[str, str], *, has_endpoint: bool) -> dict[str, str]:
    """How an OAuthBearerLoginModule gets its tokens, as librdkafka's properties.

    Args:
        options: Those of the login module.
        has_endpoint: Whether ``sasl.oauthbearer.token.endpoint.url`` is given.

    Raises:
        JaasError: It says no way to get a token, or one that librdkafka does not know.
    """
    if any(name.startswith(_UNSECURED) for name in options):
        return _unsecured(options)
    if has_endpoint:
        return _oidc(options)
    raise JaasError(
        "OAuthBearerLoginModule needs 'properties.sasl.oauthbearer.token.endpoint.url' with clientId and clientSecret, "
        'or, for tests, unsecuredLoginStringClaim_sub="..."'
    )


def _oidc(options: Mapping[str, str]) -> dict[str, str]:
    client = {_OIDC_OPTIONS[name]: value for name, value in options.items() if name in _OIDC_OPTIONS}
    extensions = {
        name.removeprefix("extension_"): value for name, value in options.items() if name.startswith("extension_")
    }
    if extensions:
        client["sasl.oauthbearer.extensions"] = ",".join(f"{name}={value}" for name, value in extensions.items())
    return {"sasl.oauthbearer.method": "oidc", **client}


def _unsecured(options: Mapping[str, str]) -> dict[str, str]:
    """A token without a signature. librdkafka's configuration of it is words, so that no value may hold a space."""
    principal = options.get(f"{_UNSECURED}PrincipalClaimName", "sub")
    scope = options.get(f"{_UNSECURED}ScopeClaimName", "scope")
    spelled = {
        f"{_UNSECURED}PrincipalClaimName": "principalClaimName",
        f"{_UNSECURED}ScopeClaimName": "scopeClaimName",
        f"{_UNSECURED}LifetimeSeconds": "lifeSeconds",
        f"{_UNSECURED}StringClaim_{principal}": "principal",
        f"{_UNSECURED}StringClaim_{scope}": "scope",
        f"{_UNSECURED}ListClaim_{scope}": "scope",
    }
    words = {}
    for name, value in options.items():
        word = spelled.get(name, name.replace(f"{_UNSECURED}Extension_", "extension_"))
        # Java's list begins with the character that separates its items
        words[word] = ",".join(value[1:].split(value[0])) if "ListClaim_" in name and value else value
    if "principal" not in words:
        raise JaasError(f'the unsecured token needs {_UNSECURED}StringClaim_{principal}="..."')
    if not words.keys() <= {*spelled.values()} | {word for word in words if word.startswith("extension_")}:
        raise JaasError("the unsecured token has no other claims than the principal and the scope in librdkafka")
    if any(len(value.split()) != 1 for value in words.values()):
        raise JaasError("values of the unsecured token may be neither empty nor hold spaces")
    return {
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": " ".join(f"{word}={value}" for word, value in words.items()),
    }
