from __future__ import annotations

import socket
from typing import NoReturn

import pytest

from millrace.diagnosis.address import Address
from millrace.diagnosis.cluster import ConnectedCheck
from millrace.diagnosis.findings import Level
from millrace.errors import UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.options.secrets import Properties


@pytest.mark.parametrize("name", ["reconnect.backoff.ms", "reconnect.backoff.max.ms"])
def test_pauses_before_connections_that_users_set_are_taken(name: str) -> None:
    client = Properties({"bootstrap.servers": "127.0.0.1:1", name: "500"})
    assert ConnectedCheck(client, "127.0.0.1:1").advertised == {}


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def connected_check(monkeypatch: pytest.MonkeyPatch, advertised: dict[str, int]) -> ConnectedCheck:
    def look_up(admin: KafkaAdmin) -> NoReturn:
        raise UnreachableError("nobody answered", advertised)

    monkeypatch.setattr(KafkaAdmin, "cluster_metadata", look_up)
    return ConnectedCheck(Properties({"bootstrap.servers": "127.0.0.1:1"}), "127.0.0.1:1")


def test_a_client_that_was_let_in_and_then_led_to_a_wrong_address_has_logged_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = closed_port()
    check = connected_check(monkeypatch, {f"127.0.0.1:{port}": 7})

    assert check.login().level == Level.OK
    assert check.advertised == {Address("127.0.0.1", port): 7}
    assert [(finding.check, finding.level) for finding in check.brokers(())] == [("advertised", Level.ERROR)]


def test_a_login_fails_when_no_broker_answers_though_its_address_can_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("millrace.diagnosis.cluster.check_advertised", lambda *arguments: [])
    for advertised in ({}, {"127.0.0.1:9": 7}):
        login = connected_check(monkeypatch, advertised).login()
        assert (login.level, login.message) == (Level.ERROR, "nobody answered")
