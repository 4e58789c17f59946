"""The options of the formats whose schemas a registry has, with the names and defaults of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option
from millrace_formats.avro.registry_properties import unknown_properties


@dataclass(frozen=True, kw_only=True)
class RegistryOptions:
    """The options of avro-confluent and debezium-avro-confluent."""

    url: str = option(
        "url",
        aliases=("schema-registry.url",),
        is_hidden=True,
        doc="Where the schema registry is, such as http://localhost:8081; several, separated by commas, are tried in "
        "turn.",
    )
    subject: str | None = option(
        "subject",
        default=None,
        aliases=("schema-registry.subject",),
        doc="The subject that a write registers its schema under; by default the topic's name with -value or -key.",
    )
    schema: str | None = option(
        "schema",
        default=None,
        aliases=("schema-registry.schema",),
        doc="The schema to read and write by, as JSON; by default the one that is derived from the columns.",
    )
    auto_register: bool = option(
        "auto.register.schemas",
        default=True,
        doc="Whether a write registers its schema; if false the subject must have it already.",
    )
    legacy_timestamps: bool = option(
        "timestamp_mapping.legacy",
        default=True,
        doc="What a derived schema has for TIMESTAMP and TIMESTAMP_NTZ: timestamp-millis for both, or if false "
        "timestamp-micros and local-timestamp-micros (an addition).",
    )
    keystore: str | None = option(
        "ssl.keystore.location", default=None, doc="The client's key and certificate: JKS, PKCS#12 or PEM."
    )
    keystore_password: str | None = option(
        "ssl.keystore.password", default=None, doc="The password of the keystore, and of its key."
    )
    truststore: str | None = option(
        "ssl.truststore.location", default=None, doc="The authorities to trust: JKS, PKCS#12 or PEM."
    )
    truststore_password: str | None = option(
        "ssl.truststore.password", default=None, doc="The password of the truststore."
    )
    basic_source: Literal["USER_INFO", "URL"] | None = option(
        "basic-auth.credentials-source",
        default=None,
        doc="Where name and password are: USER_INFO, in option basic-auth.user-info, or URL, in that.",
    )
    basic_user_info: str | None = option(
        "basic-auth.user-info", default=None, doc="Name and password, as name:password."
    )
    bearer_source: Literal["STATIC_TOKEN", "OAUTHBEARER"] | None = option(
        "bearer-auth.credentials-source",
        default=None,
        doc="Where the bearer token is: STATIC_TOKEN, in option bearer-auth.token, or OAUTHBEARER, fetched as the "
        "options properties.bearer.auth.* say.",
    )
    bearer_token: str | None = option("bearer-auth.token", default=None, doc="The bearer token.")
    properties: tuple[tuple[str, str], ...] = option(
        "properties.*",
        default=(),
        is_hidden=True,
        doc="Further properties of the registry's client, such as timeout (s) or max.retries; the options above win.",
    )

    def __post_init__(self) -> None:
        problems = [
            *_problems_of_url(self.url),
            *_problems_of_login(self),
            *(f"properties.{name} is none of the registry's client" for name in unknown_properties(self.properties)),
        ]
        if problems:
            raise ValueError("; ".join(problems))


def _problems_of_url(url: str) -> list[str]:
    wrong = [one for one in url.split(",") if not one.strip().startswith(("http://", "https://", "mock://"))]
    # What it is may hold a password
    return ["url must begin with http:// or https://, each of several"] if wrong else []


def _problems_of_login(options: RegistryOptions) -> list[str]:
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
