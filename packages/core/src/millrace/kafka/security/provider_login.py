"""Recognize logins by a token provider: named as such, or by the callback handlers of vendors' Java libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from millrace.kafka.security.jaas import JaasError, LoginModule, parse_jaas

PROVIDER = "sasl.oauthbearer.provider"
"""Not a property of any client: the token provider, which becomes librdkafka's ``oauth_cb``."""

EXTENSIONS = "sasl.oauthbearer.extensions"
_AWS_MECHANISM = "AWS_MSK_IAM"

# Ends of class names, since some are shaded into other packages
_PROVIDER_OF_HANDLER = {
    "amazon.msk.auth.iam.IAMClientCallbackHandler": "aws-msk-iam",
    "amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler": "aws-msk-iam",
    "hosted.kafka.auth.GcpLoginCallbackHandler": "google",
    # Of Spring Cloud Azure, and of the examples for Event Hubs
    "KafkaOAuth2AuthenticateCallbackHandler": "azure",
    "CustomAuthenticateCallbackHandler": "azure",
}
VENDOR_HANDLERS = tuple(name.rpartition(".")[2] for name in _PROVIDER_OF_HANDLER)
_HANDLER_OPTIONS = ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class")
_LOGIN_MODULES = ("OAuthBearerLoginModule", "IAMLoginModule")
_OTHER_WAYS = ("sasl.oauthbearer.method", "sasl.oauthbearer.token.endpoint.url", "enable.sasl.oauthbearer.unsecure.jwt")


@dataclass(frozen=True)
class ProviderLogin:
    """A login by a token provider.

    Attributes:
        name: The provider's name or class.
        options: Its options, by their names without prefix.
        properties: The other properties, for `millrace.kafka.property_translation.translate`.
        problems: Contradictions between properties.
    """

    name: str
    options: Mapping[str, str] = field(repr=False)
    properties: Mapping[str, str] = field(repr=False)
    problems: tuple[str, ...]


def provider_login(java: Mapping[str, str]) -> ProviderLogin | None:
    """Return the login by a token provider that properties describe; None if they describe another one, or none.

    Args:
        java: Property values by name, without ``properties.``.
    """
    named_in = dict(_providers(java))
    if not named_in:
        return None
    option, name = next(iter(named_in.items()))
    problems = [
        f"'properties.{option}' and 'properties.{other}' name different token providers, {name!r} and "
        f"{named_in[other]!r}; give one of them"
        for other in named_in
        if named_in[other] != name
    ]
    problems.extend(_contradictions(java, option))
    options = {key.removeprefix(f"{PROVIDER}."): value for key, value in java.items() if key.startswith(f"{PROVIDER}.")}
    own = {PROVIDER, "sasl.jaas.config", "sasl.mechanism", "sasl.mechanisms", *_HANDLER_OPTIONS}
    rest = {key: value for key, value in java.items() if key not in own and not key.startswith(f"{PROVIDER}.")}
    try:
        module = _login_module(java)
    except JaasError as error:
        # Without its cause, whose traceback holds the text
        problems.append(f"option 'properties.sasl.jaas.config' (not shown): {error}")
        module = LoginModule("", {})
    extensions = [f"{key.removeprefix('extension_')}={value}" for key, value in module.options.items() if _extends(key)]
    if extensions:
        rest[EXTENSIONS] = ",".join([*filter(None, [java.get(EXTENSIONS)]), *extensions])
    for key, value in module.options.items():
        if not _extends(key) and options.setdefault(key, value) != value:
            problems.append(f"'properties.{PROVIDER}.{key}' and 'properties.sasl.jaas.config' differ; give one of them")
    return ProviderLogin(name, options, {**rest, "sasl.mechanism": "OAUTHBEARER"}, tuple(problems))


def _extends(option: str) -> bool:
    return option.startswith("extension_")


def _providers(java: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the properties that name a provider, and its name."""
    if PROVIDER in java:
        yield PROVIDER, java[PROVIDER].strip()
    for option in _HANDLER_OPTIONS:
        handler = java.get(option, "").strip()
        for ending, provider in _PROVIDER_OF_HANDLER.items():
            if f".{handler}".endswith(f".{ending}"):
                yield option, provider
    for option in ("sasl.mechanism", "sasl.mechanisms"):
        if java.get(option, "").strip().upper() == _AWS_MECHANISM:
            yield option, "aws-msk-iam"


def _contradictions(java: Mapping[str, str], option: str) -> Iterator[str]:
    for name in ("sasl.mechanism", "sasl.mechanisms"):
        if name in java and java[name].strip().upper() not in ("OAUTHBEARER", _AWS_MECHANISM):
            yield (
                f"'properties.{option}' requires 'properties.{name}' = 'OAUTHBEARER', but it is {java[name].strip()!r}"
            )
    protocol = java.get("security.protocol", "PLAINTEXT").strip().upper()
    if not protocol.startswith("SASL"):
        yield (
            f"'properties.{option}' requires 'properties.security.protocol' = 'SASL_SSL', but it is {protocol!r}"
            f"{'' if 'security.protocol' in java else ', the default'}"
        )
    for name in _OTHER_WAYS:
        if name in java:
            yield f"'properties.{option}' and 'properties.{name}' are two ways to get a token; give one of them"


def _login_module(java: Mapping[str, str]) -> LoginModule:
    if "sasl.jaas.config" not in java:
        return LoginModule("", {})
    module = parse_jaas(java["sasl.jaas.config"])
    if module.name not in _LOGIN_MODULES:
        raise JaasError(f"a token provider logs in by {' or '.join(_LOGIN_MODULES)}, not by {module.name}")
    return module
