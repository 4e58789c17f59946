from __future__ import annotations

import pytest
from confluent_kafka import Producer

from millrace.kafka.property_translation import translate

SERVERS = {"bootstrap.servers": "127.0.0.1:1"}
PLAIN = 'a.PlainLoginModule required username="u" password="hush";'
ENDPOINT = {"sasl.oauthbearer.token.endpoint.url": "https://login/token"}


def login(mechanism: str | None, jaas: str, **more: str) -> tuple[dict[str, str], list[str]]:
    given = {**({"sasl.mechanism": mechanism} if mechanism else {}), "sasl.jaas.config": jaas, **more}
    client, problems, _ = translate({**SERVERS, **given})
    return {name: value for name, value in client.items() if name not in (*SERVERS, "sasl.mechanism")}, problems


@pytest.mark.parametrize(
    ("mechanism", "jaas", "more", "client"),
    [
        ("PLAIN", PLAIN, {}, {"sasl.username": "u", "sasl.password": "hush"}),
        (
            "SCRAM-SHA-256",
            'shaded.org.apache.ScramLoginModule required username="u" password="hush";',
            {},
            {"sasl.username": "u", "sasl.password": "hush"},
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="me" unsecuredLoginListClaim_scope="|a|b" '
            'unsecuredLoginLifetimeSeconds="60" unsecuredLoginExtension_traceId="7";',
            {},
            {
                "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": "principal=me scope=a,b lifeSeconds=60 extension_traceId=7",
            },
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required unsecuredLoginPrincipalClaimName="azp" '
            'unsecuredLoginStringClaim_azp="me";',
            {},
            {
                "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": "principalClaimName=azp principal=me",
            },
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required clientId="me" clientSecret="hush" scope="s" extension_a="1";',
            ENDPOINT,
            {
                **ENDPOINT,
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "me",
                "sasl.oauthbearer.client.secret": "hush",
                "sasl.oauthbearer.scope": "s",
                "sasl.oauthbearer.extensions": "a=1",
            },
        ),
        (
            None,
            'com.sun.security.auth.module.Krb5LoginModule required useKeyTab="true" storeKey=true '
            'keyTab="/etc/me.keytab" principal="me@REALM" serviceName="kafka";',
            {},
            {
                "sasl.kerberos.keytab": "/etc/me.keytab",
                "sasl.kerberos.principal": "me@REALM",
                "sasl.kerberos.service.name": "kafka",
            },
        ),
    ],
)
def test_login_modules_become_properties_that_the_client_accepts(
    mechanism: str | None, jaas: str, more: dict[str, str], client: dict[str, str]
) -> None:
    assert login(mechanism, jaas, **more) == (client, [])
    Producer({**SERVERS, "log_level": 0, **client})


KERBEROS = {**SERVERS, "security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}
BY_KEYTAB = {"sasl.kerberos.keytab": "/etc/me.keytab"}


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({}, "kinit -R"),
        ({"sasl.jaas.config": "Krb5LoginModule required useTicketCache=true;"}, "kinit -R"),
        ({"sasl.kerberos.kinit.cmd": "/opt/kinit"}, "/opt/kinit -R"),
        ({"sasl.kerberos.kinit.cmd": "kinit -k -t mine"}, "kinit -k -t mine"),
        (BY_KEYTAB, None),
        ({"connector.kerberos.keytab": "/etc/me.keytab"}, None),
        ({"sasl.jaas.config": 'Krb5LoginModule required keyTab="/etc/me.keytab";'}, None),
        ({"sasl.mechanism": "PLAIN"}, None),
        ({"security.protocol": "SSL"}, None),
    ],
)
def test_without_a_keytab_the_tickets_of_the_cache_are_renewed(given: dict[str, str], command: str | None) -> None:
    client, problems, _ = translate({**KERBEROS, **given})
    assert problems == []
    assert client.get("sasl.kerberos.kinit.cmd") == command


@pytest.mark.parametrize(
    "handler",
    [
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
        "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
    ],
)
def test_kafkas_own_handler_of_endpoints_chooses_the_method(handler: str) -> None:
    client, problems, _ = translate({**SERVERS, "sasl.login.callback.handler.class": handler})
    assert (client, problems) == ({**SERVERS, "sasl.oauthbearer.method": "oidc"}, [])


def test_kafkas_own_handler_of_unsecured_tokens_is_accepted() -> None:
    handler = (
        "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
    )
    assert translate({**SERVERS, "sasl.login.callback.handler.class": handler}) == (SERVERS, [], [])


def test_other_handlers_are_refused() -> None:
    _, (problem,), _ = translate({**SERVERS, "sasl.login.callback.handler.class": "com.amazon.IAMHandler"})
    assert problem.startswith(
        "option 'properties.sasl.login.callback.handler.class' cannot be set: Java classes cannot be used"
    )


@pytest.mark.parametrize(
    ("mechanism", "jaas", "problem"),
    [
        (
            None,
            PLAIN,
            "PlainLoginModule is for mechanism PLAIN, but 'properties.sasl.mechanism' is not given, which means "
            "GSSAPI; make the two fit",
        ),
        (
            "PLAIN",
            'ScramLoginModule required username="u" password="hush";',
            "ScramLoginModule is for mechanism SCRAM-SHA-256 or SCRAM-SHA-512, but 'properties.sasl.mechanism' is "
            "PLAIN; make the two fit",
        ),
        (
            "PLAIN",
            'PlainLoginModule required user="hush";',
            'PlainLoginModule needs username and password, as username="..." password="..."',
        ),
        (
            "PLAIN",
            'IAMLoginModule required secret="hush";',
            "expected the class of a login module, in any package: PlainLoginModule, ScramLoginModule, "
            "OAuthBearerLoginModule, Krb5LoginModule",
        ),
        (
            "SCRAM-SHA-256",
            'ScramLoginModule required username="u" password="hush" tokenauth="true";',
            "delegation tokens (tokenauth) are not supported by the Kafka client; use a user's password",
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required clientId="u" clientSecret="hush";',
            "OAuthBearerLoginModule needs 'properties.sasl.oauthbearer.token.endpoint.url' with clientId and "
            "clientSecret, 'properties.sasl.oauthbearer.provider' with the name of a token provider, or, for tests, "
            'unsecuredLoginStringClaim_sub="..."',
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required unsecuredLoginStringClaim_x="hush";',
            'the unsecured token needs unsecuredLoginStringClaim_sub="..."',
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="u" unsecuredLoginStringClaim_x="hush";',
            "the unsecured token has no other claims than the principal and the scope in librdkafka",
        ),
        (
            "OAUTHBEARER",
            'OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="hush hush";',
            "values of the unsecured token may be neither empty nor hold spaces",
        ),
        ("PLAIN", "hush", "at character 5, expected 'required'; it ends there, perhaps for a quote that is not"),
    ],
)
def test_what_does_not_fit_together_is_told_without_the_text(mechanism: str | None, jaas: str, problem: str) -> None:
    client, (told,) = login(mechanism, jaas)
    assert told.startswith(f"option 'properties.sasl.jaas.config' (not shown): {problem}")
    assert "hush" not in told
    assert client == {}


def test_an_unknown_mechanism_is_told_once() -> None:
    _, (problem,) = login("PLAINE", PLAIN)
    assert problem.startswith("option 'properties.sasl.mechanism': expected one of PLAIN, ")


def test_a_password_that_is_given_twice_may_not_differ() -> None:
    _, (problem,) = login("PLAIN", PLAIN, **{"sasl.password": "other"})
    assert problem == (
        "'properties.sasl.password' and 'properties.sasl.jaas.config' mean the same but differ; give one of them"
    )
