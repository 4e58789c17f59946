from __future__ import annotations

import time

from millrace.kafka.security.tokens import ProviderTokens, TokenCallback
from millrace_cli.transactions.token import SingleToken
from support.provided_tokens import FixedToken, FixedTokenOptions


def test_the_token_of_a_provider_is_given_to_kafka_python() -> None:
    tokens = ProviderTokens("fixed", FixedToken(FixedTokenOptions()), ("b:1",), time.time)
    single = SingleToken({"oauth_cb": TokenCallback(tokens, {"pool": "p"})})
    assert (single.token(), single.extensions()) == ("fixed-5ecret", {"pool": "p"})
