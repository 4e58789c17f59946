"""Answers of brokers that tell the bytes of topics: https://kafka.apache.org/protocol#The_Messages_DescribeLogDirs."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from millrace.errors import ClientError
from millrace.kafka.log_dirs import parse_log_dirs, topic_sizes
from millrace.kafka.raw_requests import BrokerAddress

NO_TAGS = b"\0"
A_TAG = b"\1\7\2ab"
"""Tagged fields, as an answer has them: a single field, whose tag is 7 and whose value has two bytes."""


def varint(number: int) -> bytes:
    encoded = b""
    while number >= 0x80:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def text(content: str) -> bytes:
    return varint(len(content) + 1) + content.encode()


def array(*items: bytes) -> bytes:
    return varint(len(items) + 1) + b"".join(items)


def partition(number: int, size: int, *, is_future: bool = False) -> bytes:
    return struct.pack(">iqq?", number, size, 0, is_future) + A_TAG


def topic(name: str, *partitions: bytes) -> bytes:
    return text(name) + array(*partitions) + NO_TAGS


def folder(path: str, *topics: bytes, code: int = 0) -> bytes:
    return struct.pack(">h", code) + text(path) + array(*topics) + NO_TAGS


def answer(*folders: bytes, code: int = 0) -> bytes:
    return NO_TAGS + struct.pack(">ih", 0, code) + array(*folders) + NO_TAGS


def test_bytes_are_added_up_by_topic() -> None:
    orders = topic("orders", partition(0, 2**40), partition(1, 5), partition(1, 3, is_future=True))
    many = topic("a" * 200, *(partition(number, 1) for number in range(300)))
    sizes = parse_log_dirs(answer(folder("/a", orders, many), folder("/b", topic("orders", partition(2, 7)))))
    assert sizes == {"orders": 2**40 + 15, "a" * 200: 300}


def test_a_broker_without_topics_has_none() -> None:
    assert parse_log_dirs(answer(folder("/a"))) == {}


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (answer(code=31), r"this client's user needs the operation DESCRIBE on the cluster \(an ACL\)"),
        (answer(code=-1), "error -1 of Kafka"),
        (answer(folder("/a", code=56)), r"its log folder /a is offline \(error 56 of Kafka\)"),
    ],
    ids=["not allowed", "another error", "an offline folder"],
)
def test_a_refusal_says_why(told: bytes, reason: str) -> None:
    with pytest.raises(ClientError, match=reason):
        parse_log_dirs(told)


def test_logins_that_only_the_client_library_has_are_told() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        broker = BrokerAddress(3, *listening.getsockname())
        settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"}
        expected = (
            f"broker 3 at 127.0.0.1:{broker.port} reports no sizes of topics: a login by GSSAPI is one that only the "
            "client library has, which cannot ask this"
        )
        with pytest.raises(ClientError) as error:
            topic_sizes([broker], settings)
    assert str(error.value) == expected


def test_what_is_no_broker_is_told() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        broker = BrokerAddress(3, *listening.getsockname())

        def hang_up() -> None:
            listening.accept()[0].close()

        closing = threading.Thread(target=hang_up)
        closing.start()
        with pytest.raises(ClientError, match="did not answer when asked for sizes of topics"):
            topic_sizes([broker], {})
        closing.join()
    with pytest.raises(ClientError, match=r"cannot be asked for sizes of topics: .*refused"):
        topic_sizes([broker], {})
