from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.retry import Clock
from millrace.options.secrets import Properties

NOWHERE = Properties({"bootstrap.servers": "127.0.0.1:1", "sasl.password": "hush"})

WITHOUT_PAUSES = Clock(sleep=lambda seconds: None)


def test_a_property_that_the_client_refuses_is_an_options_error() -> None:
    with pytest.raises(OptionsError, match=r"has no property 'lingr\.ms'; did you mean 'properties\.linger\.ms'"):
        KafkaAdmin(Properties({"bootstrap.servers": "127.0.0.1:1", "lingr.ms": "5"}))


def test_nothing_is_asked_for_no_partitions() -> None:
    assert KafkaAdmin(NOWHERE).begin([]) == {}
    assert KafkaAdmin(NOWHERE).end([]) == {}


KNOWN = {"orders": 3, "audit": 1, "__consumer_offsets": 50}


@pytest.mark.parametrize(
    ("missing", "known", "message"),
    [
        (
            ["order"],
            KNOWN,
            "no topic 'order' at 127.0.0.1:1 (option 'topic'). Did you mean 'orders'? Otherwise create it first",
        ),
        (
            ["zzz", "yyy"],
            KNOWN,
            "no topic 'zzz', 'yyy' at 127.0.0.1:1 (option 'topic'). Topics there: audit, orders. Create it first, or "
            "check that this client may see it",
        ),
        (
            ["zzz"],
            {},
            "no topic 'zzz' at 127.0.0.1:1 (option 'topic'). Topics there: none. Create it first, or check that this "
            "client may see it",
        ),
        (
            ["zzz"],
            {f"a{number:02}": 1 for number in range(13)},
            "no topic 'zzz' at 127.0.0.1:1 (option 'topic'). Topics there: a00, a01, a02, a03, a04, a05, a06, a07, "
            "a08, a09 and 3 more. Create it first, or check that this client may see it",
        ),
    ],
)
def test_missing_topics_are_told_with_those_that_exist(missing: list[str], known: dict[str, int], message: str) -> None:
    assert KafkaAdmin(NOWHERE)._unknown_topics(missing, known) == message


def test_an_offset_that_the_client_does_not_know_is_asked_for_again() -> None:
    answers = iter([-1001, 5])

    class Admin:
        def list_offsets(self, request: dict[Any, Any], **_: Any) -> dict[Any, Future[Any]]:
            future: Future[Any] = Future()
            future.set_result(SimpleNamespace(offset=next(answers)))
            return dict.fromkeys(request, future)

        def poll(self, _: float) -> None: ...

        def list_topics(self, **_: Any) -> None: ...

    admin: Any = Admin()
    lookup = KafkaAdmin(NOWHERE, clock=WITHOUT_PAUSES, create_client=lambda settings: admin)
    assert lookup.end([TopicPartition("orders", 0)]) == {("orders", 0): 5}
