"""The settings of producers: how long records linger."""

from __future__ import annotations

import pytest

from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.options.secrets import Properties

SERVERS = {"bootstrap.servers": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("given", "linger"),
    [
        ({}, "120000"),
        ({"linger.ms": "7"}, "7"),
        ({"delivery.timeout.ms": "3000"}, "1000"),
        ({"delivery.timeout.ms": "900000"}, "120000"),
        ({"delivery.timeout.ms": "0"}, "120000"),
        ({"enable.idempotence": "false"}, "5"),
    ],
)
def test_records_of_idempotent_producers_linger_until_a_batch_is_full_or_flushed(given, linger):
    settings = producer_settings(Properties({**SERVERS, **given}), idempotent=True)
    assert settings["linger.ms"] == linger
    KafkaProducer(settings)


def test_the_clients_older_name_of_the_linger_wins_too():
    settings = producer_settings(Properties({**SERVERS, "queue.buffering.max.ms": "7"}), idempotent=True)
    assert settings["queue.buffering.max.ms"] == "7"
    assert settings["linger.ms"] == "5"
    # Both names set the same property, the later one last
    assert list(settings).index("linger.ms") < list(settings).index("queue.buffering.max.ms")
    KafkaProducer(settings)


@pytest.mark.parametrize(
    ("name", "value"), [("batch.size", "16384"), ("batch.num.messages", "7"), ("compression.type", "zstd")]
)
@pytest.mark.parametrize("is_idempotent", [True, False])
def test_batches_that_users_set_win(name, value, is_idempotent):
    settings = producer_settings(Properties({**SERVERS, name: value}), idempotent=is_idempotent)
    assert settings[name] == value
    KafkaProducer(settings)


def test_records_without_a_key_change_their_partition_however_long_they_linger():
    assert producer_settings(Properties(SERVERS), idempotent=True)["sticky.partitioning.linger.ms"] == "10"
    given = Properties({**SERVERS, "sticky.partitioning.linger.ms": "20"})
    assert producer_settings(given, idempotent=True)["sticky.partitioning.linger.ms"] == "20"


@pytest.mark.parametrize(("given", "linger"), [({}, "20000"), ({"transaction.timeout.ms": "900000"}, "120000")])
def test_records_of_transactions_linger_for_a_part_of_their_timeout(given, linger):
    settings = producer_settings(Properties({**SERVERS, **given}), idempotent=True, transactional_id="orders-0")
    assert settings["linger.ms"] == linger
    KafkaProducer(settings)


def test_records_that_nobody_waits_for_are_sent_soon():
    assert producer_settings(Properties(SERVERS), idempotent=False)["linger.ms"] == "5"


@pytest.mark.parametrize("name", ["reconnect.backoff.ms", "reconnect.backoff.max.ms"])
def test_pauses_before_connections_that_users_set_win(name: str) -> None:
    settings = producer_settings(Properties({"bootstrap.servers": "127.0.0.1:1", name: "50"}), idempotent=True)
    assert {key: value for key, value in settings.items() if "reconnect" in key} == {name: "50"}


def test_producers_pause_before_they_connect_again() -> None:
    settings = producer_settings(Properties({"bootstrap.servers": "127.0.0.1:1"}), idempotent=True)
    assert settings["reconnect.backoff.ms"] == "400"
