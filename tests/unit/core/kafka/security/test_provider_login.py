from __future__ import annotations

import pytest

from millrace.kafka.security.provider_login import provider_login

SASL = {"bootstrap.servers": "localhost:1", "security.protocol": "SASL_SSL"}
IAM = "software.amazon.msk.auth.iam"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@pytest.mark.parametrize(
    ("java", "name", "options"),
    [
        ({"sasl.oauthbearer.provider": "google"}, "google", {}),
        (
            {"sasl.oauthbearer.provider": "acme.tokens:Vault", "sasl.oauthbearer.provider.url": "http://v"},
            "acme.tokens:Vault",
            {"url": "http://v"},
        ),
        (
            {
                "sasl.mechanism": "AWS_MSK_IAM",
                "sasl.jaas.config": f'{IAM}.IAMLoginModule required awsProfileName="dev";',
                "sasl.client.callback.handler.class": f"{IAM}.IAMClientCallbackHandler",
            },
            "aws-msk-iam",
            {"awsProfileName": "dev"},
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f'{OAUTH} required awsStsRegion="eu-west-1";',
                "sasl.login.callback.handler.class": f"shaded.{IAM}.IAMOAuthBearerLoginCallbackHandler",
                "sasl.client.callback.handler.class": f"shaded.{IAM}.IAMOAuthBearerLoginCallbackHandler",
            },
            "aws-msk-iam",
            {"awsStsRegion": "eu-west-1"},
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f"{OAUTH} required;",
                "sasl.login.callback.handler.class": "com.google.cloud.hosted.kafka.auth.GcpLoginCallbackHandler",
            },
            "google",
            {},
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f"{OAUTH} required;",
                "sasl.login.callback.handler.class": (
                    "com.azure.spring.cloud.service.implementation.kafka.KafkaOAuth2AuthenticateCallbackHandler"
                ),
            },
            "azure",
            {},
        ),
    ],
)
def test_a_configuration_of_java_can_be_pasted(java: dict[str, str], name: str, options: dict[str, str]) -> None:
    login = provider_login({**SASL, **java})
    assert login is not None
    assert (login.name, login.options, login.problems) == (name, options, ())
    assert login.properties == {**SASL, "sasl.mechanism": "OAUTHBEARER"}


@pytest.mark.parametrize(
    "java",
    [
        {},
        {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": f"{OAUTH} required;"},
        {"sasl.login.callback.handler.class": "com.ibm.eventstreams.oauth.client.IAMOAuthBearerLoginCallbackHandler"},
    ],
)
def test_other_logins_are_left_to_the_client(java: dict[str, str]) -> None:
    assert provider_login({**SASL, **java}) is None


def test_extensions_of_the_login_module_are_the_clients() -> None:
    jaas = f'{OAUTH} required extension_logicalCluster="lkc-1" extension_identityPoolId="pool-1";'
    given = {"sasl.oauthbearer.provider": "azure", "sasl.jaas.config": jaas, "sasl.oauthbearer.extensions": "a=b"}
    login = provider_login({**SASL, **given})
    assert login is not None
    assert login.properties["sasl.oauthbearer.extensions"] == "a=b,logicalCluster=lkc-1,identityPoolId=pool-1"
    assert login.options == {}


@pytest.mark.parametrize(
    ("java", "problem"),
    [
        (
            {"sasl.mechanism": "PLAIN"},
            "'properties.sasl.oauthbearer.provider' requires 'properties.sasl.mechanism' = 'OAUTHBEARER', but it is "
            "'PLAIN'",
        ),
        (
            {"security.protocol": "SSL"},
            "'properties.sasl.oauthbearer.provider' requires 'properties.security.protocol' = 'SASL_SSL', but it is "
            "'SSL'",
        ),
        (
            {"sasl.oauthbearer.method": "oidc"},
            "'properties.sasl.oauthbearer.provider' and 'properties.sasl.oauthbearer.method' are two ways to get a "
            "token; give one of them",
        ),
        (
            {"sasl.login.callback.handler.class": "com.google.cloud.hosted.kafka.auth.GcpLoginCallbackHandler"},
            "'properties.sasl.oauthbearer.provider' and 'properties.sasl.login.callback.handler.class' name different "
            "token providers, 'azure' and 'google'; give one of them",
        ),
        (
            {"sasl.jaas.config": 'a.PlainLoginModule required password="hush";'},
            "option 'properties.sasl.jaas.config' (not shown): a token provider logs in by OAuthBearerLoginModule or "
            "IAMLoginModule, not by PlainLoginModule",
        ),
        (
            {"sasl.jaas.config": f'{OAUTH} required scope="a";', "sasl.oauthbearer.provider.scope": "b"},
            "'properties.sasl.oauthbearer.provider.scope' and 'properties.sasl.jaas.config' differ; give one of them",
        ),
    ],
)
def test_contradictions_are_told(java: dict[str, str], problem: str) -> None:
    login = provider_login({**SASL, "sasl.oauthbearer.provider": "azure", **java})
    assert login is not None
    assert login.problems == (problem,)
    assert "hush" not in repr(login)
