"""The pages on managed Kafkas and on production name options and alerts that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from millrace.configuration.build import configure_sink, configure_source
from millrace_ui.alert_rules import ALERT_RULES

DOCS = Path(__file__).parents[2] / "docs"
LOGINS = re.findall(r"^```properties\n(.*?)^```", (DOCS / "managed-kafka.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: re.search(r"servers = (\S+)", login)[1])
def test_the_login_of_each_service_is_accepted(login: str) -> None:
    options = dict(line.split(" = ", 1) for line in login.splitlines())
    for configure in (configure_source, configure_sink):
        client = configure({**options, "topic": "orders"}).client
        assert client["bootstrap.servers"] == options["properties.bootstrap.servers"]
        assert client["security.protocol"].upper() == "SASL_SSL"


def test_each_alert_has_a_first_step() -> None:
    page = (DOCS / "production.md").read_text()
    assert set(re.findall(r"`(Millrace\w+)`", page)) == {rule.name for rule in ALERT_RULES}
