"""The contents of a recording: messages, the topic that they come from, and schemas of a registry."""

from __future__ import annotations

import hashlib
import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from millrace.records.spark_kafka_columns import spark_kafka_schema
from millrace_cli.errors import CommandError

COLUMNS = spark_kafka_schema(include_headers=True)
"""The columns of a recording, those of a read without a format: of Spark's own Kafka connector."""

VERSION = 1
"""The version of the files' form. A newer one is refused."""

BATCH_ROWS, BATCH_BYTES = 1_000, 4 << 20
"""A batch has no more rows, and about as many bytes: a replay has one of each partition in memory."""

_US_PER_MS = 1000


class RecordedMessage(NamedTuple):
    """A message of a recording.

    Attributes:
        partition: The partition that it was in.
        timestamp: Its timestamp, in ms since 1970; None where it has none.
        key: Its key.
        value: Its value.
        headers: Its headers, in order and including repeats.
    """

    partition: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def payload_text(payload: bytes) -> str | None:
    """Return a payload as text: UTF-8 without a zero byte; None for a binary one."""
    if b"\0" in payload:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema as a registry has it.

    Attributes:
        subject: A subject that has it.
        type: AVRO, JSON or PROTOBUF.
        text: The schema.
        references: The schemas that it refers to, each with its name in this one.
    """

    subject: str
    type: str
    text: str
    references: tuple[tuple[str, RegisteredSchema], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without references where it has none."""
        references = [{"name": name, **schema.to_json()} for name, schema in self.references]
        content = {"subject": self.subject, "type": self.type, "schema": self.text}
        return {**content, "references": references} if references else content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> RegisteredSchema:
        """Return the schema that `to_json` has written; KeyError where something is missing."""
        references = tuple((item["name"], cls.from_json(item)) for item in content.get("references", ()))
        return cls(content["subject"], content["type"], content["schema"], references)


@dataclass(frozen=True)
class RecordedSchema:
    """A schema that keys or values of the recording name by its id.

    Attributes:
        part: The part of messages: ``key`` or ``value``.
        id: The id in the registry of the recording.
        schema: The schema.
    """

    part: str
    id: int
    schema: RegisteredSchema

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"part": self.part, "id": self.id, **self.schema.to_json()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> RecordedSchema:
        """Return the schema that `to_json` has written; KeyError where something is missing."""
        return cls(content["part"], int(content["id"]), RegisteredSchema.from_json(content))


@dataclass(frozen=True)
class RecordedTopic:
    """The topic of a recording.

    Attributes:
        name: Its name; None where the file does not tell.
        partitions: The number of its partitions; 0 where the file does not tell.
    """

    name: str | None = None
    partitions: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with the version of the form."""
        return {"version": VERSION, "topic": self.name, "partitions": self.partitions}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], path: Path) -> RecordedTopic:
        """Return the topic that `to_json` has written.

        Args:
            content: The JSON.
            path: The file, for errors.

        Raises:
            CommandError: A newer version has written it.
        """
        if content["version"] > VERSION:
            raise CommandError(f"{path} was recorded by a newer version of millrace-cli: install that one to replay it")
        return cls(content["topic"], content["partitions"])


class Extent(NamedTuple):
    """The extent of a recording.

    Attributes:
        messages: The number of messages.
        partitions: The partitions that have some.
        oldest: The smallest timestamp, in ms since 1970; None where no message has one.
        newest: The largest one.
        without_time: The number of messages that have no timestamp.
    """

    messages: int
    partitions: tuple[int, ...]
    oldest: int | None
    newest: int | None
    without_time: int = 0


class Recording(ABC):
    """A recording in a file. It is read in parts, whatever its size.

    Attributes:
        path: The file.
        topic: The topic.
        schemas: The schemas of a registry that its messages name.
    """

    path: Path
    topic: RecordedTopic
    schemas: tuple[RecordedSchema, ...]

    @abstractmethod
    def batches(self, partition: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the messages in the order of the file, with the columns of `COLUMNS`.

        Args:
            partition: The partition to read; None for all.

        Raises:
            CommandError: The file is malformed.
        """

    @cached_property
    @abstractmethod
    def extent(self) -> Extent:
        """The extent, for which the whole file is read."""

    @property
    def partition_count(self) -> int:
        """The number of partitions that a topic must have for all messages to be in their own."""
        return max(self.topic.partitions, 1, *(number + 1 for number in self.extent.partitions))

    def messages(self) -> Iterator[RecordedMessage]:
        """Yield the messages by their timestamps; those of a partition stay in order.

        Raises:
            CommandError: The file is malformed.
        """
        partitions = (self._messages_of(number) for number in self.extent.partitions)
        return heapq.merge(*partitions, key=lambda message: -1 if message.timestamp is None else message.timestamp)

    def digest(self) -> str:
        """Return what other recordings do not have: a hash of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _messages_of(self, partition: int) -> Iterator[RecordedMessage]:
        for batch in self.batches(partition):
            times = batch.column("timestamp").cast(pa.int64()).to_pylist()
            keys, values = batch.column("key").to_pylist(), batch.column("value").to_pylist()
            headers = batch.column("headers").to_pylist()
            for time, key, value, own in zip(times, keys, values, headers, strict=True):
                pairs = [(header["key"], header["value"]) for header in own or ()]
                yield RecordedMessage(partition, None if time is None else time // _US_PER_MS, key, value, pairs)
