from __future__ import annotations

import pytest

from millrace.kafka.topic_limits import with_fitting_batches
from millrace.options.secrets import Properties

SERVERS = {"bootstrap.servers": "h:1"}


def fitting(*limits: str, **client: str) -> str | None:
    topics = {f"t{number}": {"max.message.bytes": limit} for number, limit in enumerate(limits)}
    given = {name.replace("_", "."): value for name, value in client.items()}
    return with_fitting_batches(Properties({**SERVERS, **given}), topics).get("batch.size")


def test_batches_fit_the_topic_that_takes_the_smallest() -> None:
    assert fitting("1048588", "32768") == "32185"
    assert int(fitting("2000") or 0) < 2000
    assert fitting("100") == "1"


def test_topics_that_take_more_leave_the_size_as_it_is() -> None:
    assert fitting("1048588") is None
    assert fitting("32768", batch_size="16384") == "16384"


def test_a_size_of_the_users_that_is_too_large_is_lowered() -> None:
    assert fitting("32768", batch_size="500000") == "32185"


@pytest.mark.parametrize("size", ["many", ""])
def test_a_size_that_is_none_is_left_to_the_client(size: str) -> None:
    assert fitting("32768", batch_size=size) == size


def test_limits_that_are_not_known_change_nothing() -> None:
    client = Properties(SERVERS)
    assert with_fitting_batches(client, {"t": {}}) == client
    assert with_fitting_batches(client, {}) == client
