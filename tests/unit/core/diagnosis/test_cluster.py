from __future__ import annotations

import pytest

from millrace.diagnosis.cluster import ConnectedCheck
from millrace.options.secrets import Properties


@pytest.mark.parametrize("name", ["reconnect.backoff.ms", "reconnect.backoff.max.ms"])
def test_pauses_before_connections_that_users_set_are_taken(name: str) -> None:
    client = Properties({"bootstrap.servers": "127.0.0.1:1", name: "500"})
    assert ConnectedCheck(client, "127.0.0.1:1").advertised == {}
