"""Reports of conversions: no secret is in them."""

from __future__ import annotations

import pytest

from millrace_cli.converting.report import has_secrets, masked


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"sasl.jaas.config": "x"}, {"sasl.jaas.config": "***"}),
        ({"schema.registry.url": "http://user:hidden@h"}, {"schema.registry.url": "http://***@h"}),
        ({"connection.url": "jdbc:x?password=hidden"}, {"connection.url": "jdbc:x?password=***"}),
    ],
)
def test_a_secret_is_recognized_by_the_name_and_by_the_value(options: dict[str, str], shown: dict[str, str]) -> None:
    assert (masked(options), has_secrets(options)) == (shown, True)


def test_options_without_secrets_are_shown_as_they_are() -> None:
    options = {"bootstrap.servers": "h:1,h:2", "connection.url": "jdbc:x://h:1/shop?user=u&ssl=true"}
    assert (masked(options), has_secrets(options)) == (options, False)
