"""Look up the bytes of topics on brokers' disks (DescribeLogDirs, KIP-113), which the client library cannot."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from millrace.errors import ClientError
from millrace.kafka.raw_login import login
from millrace.kafka.raw_requests import NO_ERROR, NO_TAGS, BrokerAddress, NotKafkaError, ask

_DESCRIBE_LOG_DIRS = 35
_VERSION = 3
"""The first version that says when this client may not ask."""

_CLUSTER_AUTHORIZATION_FAILED = 31
_ALL_TOPICS = b"\0"
_MOST_AT_ONCE = 8


def topic_sizes(brokers: Sequence[BrokerAddress], settings: Mapping[str, Any]) -> dict[str, int]:
    """Look up the bytes of all topics, by one request to each broker.

    Args:
        brokers: All brokers of the cluster.
        settings: The settings of a Kafka client, from `client_settings`.

    Returns:
        By topic, the bytes that all its replicas take. Topics without a log on a broker's disk are left out.

    Raises:
        ClientError: This client may not ask, a broker did not answer, or a log folder is offline.
    """
    total: Counter[str] = Counter()
    if brokers:
        with ThreadPoolExecutor(min(len(brokers), _MOST_AT_ONCE)) as pool:
            for sizes in pool.map(lambda broker: _sizes_on(broker, settings), brokers):
                total.update(sizes)
    return dict(total)


def _sizes_on(broker: BrokerAddress, settings: Mapping[str, Any]) -> Counter[str]:
    try:
        with closing(login(broker.host, broker.port, settings)) as connection:
            answer = ask(connection, _DESCRIBE_LOG_DIRS, _VERSION, NO_TAGS + _ALL_TOPICS + NO_TAGS)
            return parse_log_dirs(answer)
    except ClientError as error:
        raise ClientError(f"{broker} reports no sizes of topics: {error}") from error
    except OSError as error:
        raise ClientError(f"{broker} cannot be asked for sizes of topics: {error}") from error
    except (NotKafkaError, struct.error, LookupError, ValueError) as error:
        # Brokers end the connection of a client that asks what they do not know
        raise ClientError(
            f"{broker} did not answer when asked for sizes of topics, which Kafka 3.2 and newer report"
        ) from error


def parse_log_dirs(answer: bytes) -> Counter[str]:
    """Return the bytes of each topic in a broker's answer.

    Raises:
        ClientError: The answer is an error.
    """
    fields = _Fields(answer)
    fields.skip_tags()
    _, code = fields.take("ih")
    if code == _CLUSTER_AUTHORIZATION_FAILED:
        raise ClientError("this client's user needs the operation DESCRIBE on the cluster (an ACL)")
    if code != NO_ERROR:
        raise ClientError(f"error {code} of Kafka")
    sizes: Counter[str] = Counter()
    for _ in range(fields.length()):
        (code,) = fields.take("h")
        folder = fields.text()
        if code != NO_ERROR:
            raise ClientError(f"its log folder {folder} is offline (error {code} of Kafka)")
        for _ in range(fields.length()):
            topic = fields.text()
            for _ in range(fields.length()):
                _, size, _, _ = fields.take("iqq?")
                sizes[topic] += size
                fields.skip_tags()
            fields.skip_tags()
        fields.skip_tags()
    return sizes


class _Fields:
    """The fields of an answer, one after the other, in Kafka's compact encoding (KIP-482)."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f">{layout}", self._answer, self._at)
        self._at += struct.calcsize(f">{layout}")
        return values

    def length(self) -> int:
        """Return the length of an array or text that follows; 0 where there is none."""
        return max(self._varint() - 1, 0)

    def text(self) -> str:
        length = self.length()
        self._at += length
        return self._answer[self._at - length : self._at].decode()

    def skip_tags(self) -> None:
        for _ in range(self._varint()):
            self._varint()
            # Not `+=`, which reads the position before the size has moved it
            size = self._varint()
            self._at += size

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._answer[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
