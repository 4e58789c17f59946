from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest

from millrace.configuration.build import check_options, configure_sink, configure_source
from millrace.errors import OptionsError
from millrace.kafka.client_settings import client_settings
from millrace.kafka.security.provider_login import PROVIDER
from support.provided_tokens import FixedToken

GIVEN = {
    "topic": "t",
    "properties.bootstrap.servers": "127.0.0.1:1",
    "properties.security.protocol": "SASL_PLAINTEXT",
    "properties.sasl.oauthbearer.provider": "support.provided_tokens:FixedToken",
    "properties.sasl.oauthbearer.provider.secret": "hush",
}


def problems(given: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as raised:
        check_options(given)
    return raised.value.problems


def test_both_directions_get_the_provider_with_its_options() -> None:
    for configuration in (configure_source(GIVEN), configure_sink(GIVEN)):
        provider = configuration.client[PROVIDER].create()
        assert isinstance(provider, FixedToken)
        assert provider.options.secret == "hush"
        assert configuration.client["sasl.mechanism"] == "OAUTHBEARER"


def test_executors_get_an_equal_configuration() -> None:
    configuration = configure_source(GIVEN)
    copy = pickle.loads(pickle.dumps(configuration))
    assert (copy, hash(copy)) == (configuration, hash(configuration))


def test_a_client_gets_a_callback_instead_of_the_provider() -> None:
    given = {**GIVEN, "properties.sasl.oauthbearer.extensions": "pool=p"}
    settings = client_settings(configure_source(given).client)
    assert PROVIDER not in settings
    value, expires_at, principal, extensions = settings["oauth_cb"]()
    assert (value, principal, extensions) == ("fixed-5ecret", "alice", {"pool": "p"})
    assert expires_at > 0


def test_neither_options_nor_tokens_are_shown() -> None:
    configuration = configure_source(GIVEN)
    shown = repr(configuration) + repr(client_settings(configuration.client))
    assert "hush" not in shown
    assert "5ecret" not in shown


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"properties.sasl.oauthbearer.provider": "gogle"},
            "option 'properties.sasl.oauthbearer.provider': unknown token provider 'gogle'; installed: aws-msk-iam, "
            "azure, google. Did you mean 'google'?",
        ),
        (
            {"properties.sasl.oauthbearer.provider.secrett": "hush"},
            "unknown option 'properties.sasl.oauthbearer.provider.secrett'; did you mean "
            "'properties.sasl.oauthbearer.provider.secret'?",
        ),
        (
            {"properties.sasl.oauthbearer.provider.lifetime": "long"},
            "option 'properties.sasl.oauthbearer.provider.lifetime': expected a whole number; got 'long'",
        ),
        (
            {"properties.security.protocol": "PLAINTEXT"},
            "'properties.sasl.oauthbearer.provider' requires 'properties.security.protocol' = 'SASL_SSL', but it is "
            "'PLAINTEXT'",
        ),
    ],
)
def test_problems_are_told(given: dict[str, str], problem: str) -> None:
    found = problems({**GIVEN, **given})
    assert problem in found
    assert "hush" not in "".join(found)
