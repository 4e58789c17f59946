"""The options of the formats whose schemas a registry has, with the names and defaults of Flink's connector.

See https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/formats/avro-confluent/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from millrace.options import option

CLIENT_DEFAULTS: Mapping[str, Any] = {
    "timeout": 10.0,
    "max.retries": 3,
    "retries.wait.ms": 300,
    "retries.max.wait.ms": 3000,
}
"""Give up a registry that does not answer after half a minute; the client's own default is to wait for ever."""

PEM_FILES = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")

STORES = ("ssl.truststore.location", "ssl.truststore.password", "ssl.keystore.location", "ssl.keystore.password")

_PROPERTY_TYPES: dict[str, Callable[[str], Any]] = {
    "timeout": float,
    "max.retries": int,
    "retries.wait.ms": int,
    "retries.max.wait.ms": int,
    "proxy": str,
    "basic.auth.user.info": str,
    "ssl.key.password": str,
    **dict.fromkeys(PEM_FILES, str),
    **dict.fromkeys(STORES, str),
}
_JAVA_PREFIX = "schema.registry."
_OAUTH_PREFIX = "bearer.auth."

RULE_PARAMETERS = "rule.executors._default_.param."
"""The prefix of the properties of Java's client with parameters for all rule executors, such as a key's secret."""


@dataclass(frozen=True, kw_only=True)
class RegistryOptions:
    """Options of every format whose schemas a registry has."""

    url: str = option(
        "url",
        aliases=("schema-registry.url",),
        is_hidden=True,
        doc="URL of the schema registry, such as http://localhost:8081; several, separated by commas, are tried in "
        "turn.",
    )
    subject: str | None = option(
        "subject",
        default=None,
        aliases=("schema-registry.subject",),
        doc="Subject under which a write registers its schema; by default as subject-name-strategy names it.",
    )
    subject_name_strategy: Literal["topic", "record", "topic-record", "associated"] = option(
        "subject-name-strategy",
        default="topic",
        doc="How subjects are named without the option subject: after the topic, as in orders-value; after the record, "
        "that is, the full name of an Avro record or protobuf message, or the title of a JSON Schema; after both, as "
        "in orders-shop.Order; or as the registry associates them with topics, and after the topic where it does not.",
    )
    schema: str | None = option(
        "schema",
        default=None,
        aliases=("schema-registry.schema",),
        doc="Schema to read and write by; by default derived from the columns.",
    )
    auto_register: bool = option(
        "auto.register.schemas",
        default=True,
        doc="Whether a write registers its schema; if false, the subject must already have it.",
    )
    keystore: str | None = option(
        "ssl.keystore.location",
        default=None,
        doc="Keystore with the client's key and certificate: JKS, PKCS#12 or PEM.",
    )
    keystore_password: str | None = option(
        "ssl.keystore.password", default=None, doc="Password of the keystore and of its key."
    )
    truststore: str | None = option(
        "ssl.truststore.location", default=None, doc="Truststore with the trusted authorities: JKS, PKCS#12 or PEM."
    )
    truststore_password: str | None = option("ssl.truststore.password", default=None, doc="Password of the truststore.")
    basic_source: Literal["USER_INFO", "URL"] | None = option(
        "basic-auth.credentials-source",
        default=None,
        doc="Where name and password come from: USER_INFO for the option basic-auth.user-info, or URL.",
    )
    basic_user_info: str | None = option(
        "basic-auth.user-info", default=None, doc="Name and password, as name:password."
    )
    bearer_source: Literal["STATIC_TOKEN", "OAUTHBEARER"] | None = option(
        "bearer-auth.credentials-source",
        default=None,
        doc="Where the bearer token comes from: STATIC_TOKEN for the option bearer-auth.token, or OAUTHBEARER to "
        "request one as configured by properties.bearer.auth.*.",
    )
    bearer_token: str | None = option("bearer-auth.token", default=None, doc="The bearer token.")
    properties: tuple[tuple[str, str], ...] = option(
        "properties.*",
        default=(),
        is_hidden=True,
        doc="Further properties of the registry's client, such as timeout (s) or max.retries, and parameters of rules "
        "that encrypt, such as rule.executors._default_.param.secret; the options above take precedence.",
    )

    def __post_init__(self) -> None:
        problems = [*_url_problems(self.url), *_login_problems(self), *_property_problems(self.properties)]
        if problems:
            raise ValueError("; ".join(problems))


def client_properties(properties: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Convert properties to the settings of the client.

    Raises:
        ValueError: One that must be a number is none.
    """
    settings = {}
    for name, value in properties:
        if name.startswith(RULE_PARAMETERS):
            continue
        convert = _PROPERTY_TYPES.get(_client_name(name), str)
        try:
            settings[_client_name(name)] = convert(value)
        except ValueError:
            raise ValueError(f"properties.{name} must be a number") from None
    return settings


def rule_parameters(properties: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters of rule executors by their names."""
    return {name.removeprefix(RULE_PARAMETERS): value for name, value in properties if name.startswith(RULE_PARAMETERS)}


def _client_name(name: str) -> str:
    # Java's client prefixes the properties of TLS
    return name.removeprefix(_JAVA_PREFIX)


def _property_problems(properties: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"properties.{name} is not a property of the registry's client"
        for name, _ in properties
        if _client_name(name) not in _PROPERTY_TYPES
        and not _client_name(name).startswith((_OAUTH_PREFIX, RULE_PARAMETERS))
    ]


def _url_problems(urls: str) -> list[str]:
    is_valid = all(url.strip().startswith(("http://", "https://", "mock://")) for url in urls.split(","))
    # The URL may hold a password, so that it is not shown
    return [] if is_valid else ["url must begin with http:// or https://, each of several"]


def _login_problems(options: RegistryOptions) -> list[str]:
    problems = []
    if options.basic_user_info is not None and ":" not in options.basic_user_info:
        problems.append("basic-auth.user-info must be name:password")
    if options.basic_source == "USER_INFO" and options.basic_user_info is None:
        problems.append("basic-auth.credentials-source is USER_INFO, but basic-auth.user-info is not given")
    if options.bearer_source == "STATIC_TOKEN" and options.bearer_token is None:
        problems.append("bearer-auth.credentials-source is STATIC_TOKEN, but bearer-auth.token is not given")
    has_bearer = options.bearer_source is not None or options.bearer_token is not None
    if has_bearer and (options.basic_user_info is not None or options.basic_source is not None):
        problems.append("basic-auth.* and bearer-auth.* exclude each other")
    return problems
