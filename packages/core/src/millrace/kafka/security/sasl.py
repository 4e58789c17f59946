"""Translate Java's SASL properties and login modules into librdkafka's properties."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.kafka.security.jaas import JaasError, LoginModule, parse_jaas
from millrace.kafka.security.oauth import oauth_properties
from millrace.kafka.security.provider_login import PROVIDER, VENDOR_HANDLERS

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
DEFAULT_MECHANISM = "GSSAPI"

_MODULE_MECHANISMS = {
    "PlainLoginModule": ("PLAIN",),
    "ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "OAuthBearerLoginModule": ("OAUTHBEARER",),
    "Krb5LoginModule": ("GSSAPI",),
}
_KRB5_PROPERTIES = {
    "keyTab": "sasl.kerberos.keytab",
    "principal": "sasl.kerberos.principal",
    "serviceName": "sasl.kerberos.service.name",
}
_OIDC_HANDLER = "OAuthBearerLoginCallbackHandler"
_UNSECURED_HANDLER = "OAuthBearerUnsecuredLoginCallbackHandler"


def jaas_properties(java: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's properties for ``sasl.jaas.config``.

    Args:
        java: All properties as the user gave them.

    Raises:
        ValueError: It cannot be parsed or contradicts other properties; the message shows nothing of it.
    """
    if "sasl.jaas.config" not in java:
        return {}
    try:
        module = parse_jaas(java["sasl.jaas.config"])
        _check_mechanism(module, java.get("sasl.mechanism", java.get("sasl.mechanisms")))
        return _module_properties(module, java)
    except JaasError as error:
        # Without its cause, whose traceback holds the text
        raise ValueError(f"option 'properties.sasl.jaas.config' (not shown): {error}") from None


def ticket_cache_properties(java: Mapping[str, str], client: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's properties for Kerberos without a keytab: tickets of the cache are renewed, as Java does it.

    Args:
        java: All properties as the user gave them.
        client: The same, translated.
    """
    program = java.get("sasl.kerberos.kinit.cmd", "kinit").strip()
    has_kerberos = (
        client.get("security.protocol", "").startswith("SASL")
        and client.get("sasl.mechanism", DEFAULT_MECHANISM) == "GSSAPI"
    )
    is_program = bool(program) and " " not in program
    if not has_kerberos or not is_program or "sasl.kerberos.keytab" in client:
        return {}
    return {"sasl.kerberos.kinit.cmd": f"{program} -R"}


def handler_properties(java: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's properties for ``sasl.login.callback.handler.class``.

    Args:
        java: All properties as the user gave them.

    Raises:
        ValueError: The class is not one of Kafka's own.
    """
    class_name = java.get("sasl.login.callback.handler.class", "").strip().rpartition(".")[2]
    if class_name == _OIDC_HANDLER:
        return {"sasl.oauthbearer.method": "oidc"}
    if class_name in ("", _UNSECURED_HANDLER):
        return {}
    raise ValueError(
        "option 'properties.sasl.login.callback.handler.class' cannot be set: Java classes cannot be used; of Kafka's "
        f"own, {_OIDC_HANDLER} and {_UNSECURED_HANDLER} are known, and {', '.join(VENDOR_HANDLERS)} of AWS, Google and "
        f"Azure. For another one, give a token provider by 'properties.{PROVIDER}'"
    )


def _check_mechanism(module: LoginModule, configured: str | None) -> None:
    mechanisms = _MODULE_MECHANISMS.get(module.name)
    if mechanisms is None:
        raise JaasError(f"expected the class of a login module, in any package: {', '.join(_MODULE_MECHANISMS)}")
    mechanism = (configured or DEFAULT_MECHANISM).strip().upper()
    # An unknown mechanism is reported elsewhere
    if mechanism in MECHANISMS and mechanism not in mechanisms:
        verb = "is" if configured else "is not given, which means"
        raise JaasError(
            f"{module.name} is for mechanism {' or '.join(mechanisms)}, but 'properties.sasl.mechanism' {verb} "
            f"{mechanism}; make the two fit"
        )


def _module_properties(module: LoginModule, java: Mapping[str, str]) -> dict[str, str]:
    if module.name == "Krb5LoginModule":
        return {_KRB5_PROPERTIES[name]: value for name, value in module.options.items() if name in _KRB5_PROPERTIES}
    if module.name == "OAuthBearerLoginModule":
        return oauth_properties(module.options, has_endpoint="sasl.oauthbearer.token.endpoint.url" in java)
    missing = [name for name in ("username", "password") if not module.options.get(name)]
    if missing:
        raise JaasError(f'{module.name} needs {" and ".join(missing)}, as username="..." password="..."')
    if module.options.get("tokenauth", "false").lower() == "true":
        raise JaasError("delegation tokens (tokenauth) are not supported by the Kafka client; use a user's password")
    return {"sasl.username": module.options["username"], "sasl.password": module.options["password"]}
