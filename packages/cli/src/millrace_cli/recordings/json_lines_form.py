"""Recordings as JSON Lines, which diff well: a line for the topic, and one for each schema and each message.

A payload that is UTF-8 text without a zero byte is text, such as ``"value": "..."``. Others are in base64, under a name
that says so: ``"value_base64": "AAE="``. Both are exact.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from millrace_cli.errors import CommandError
from millrace_cli.recordings.contents import (
    BATCH_BYTES,
    BATCH_ROWS,
    COLUMNS,
    Extent,
    RecordedSchema,
    RecordedTopic,
    Recording,
    payload_text,
)

_TOPIC, _SCHEMA = "recording", "schema"
_BASE64 = "_base64"
_FIELDS = {*COLUMNS.names, f"key{_BASE64}", f"value{_BASE64}"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MAX_INT, _MAX_BIGINT = 2**31 - 1, 2**63 - 1
_MAX_MILLIS = _MAX_BIGINT // 1000


class JsonLinesRecordingWriter:
    """Write a recording as JSON Lines.

    Args:
        file: The file.
        topic: The topic.
    """

    def __init__(self, file: IO[bytes], topic: RecordedTopic) -> None:
        self._file = file
        self._write({_TOPIC: topic.to_json()})

    def write(self, rows: pa.Table) -> None:
        """Write some messages."""
        times = rows["timestamp"].cast(pa.int64()).to_pylist()
        for row, time in zip(rows.drop_columns(["timestamp"]).to_pylist(), times, strict=True):
            self._write(_line(row, time))

    def add_schema(self, schema: RecordedSchema) -> None:
        """Write a schema, before the first message that names it."""
        self._write({_SCHEMA: schema.to_json()})

    def close(self) -> None:
        """Do nothing: all is written."""

    def _write(self, content: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(content, ensure_ascii=False).encode() + b"\n")


class JsonLinesRecording(Recording):
    """A recording in a file of JSON Lines, which may be written by hand: of a message, only the value is required.

    Args:
        path: The file.

    Raises:
        CommandError: It cannot be read, or a line is malformed; the message names it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.topic, self.schemas = RecordedTopic(), ()
        # Of each partition, where its first line begins and its last one ends, in bytes
        self._lines: dict[int, tuple[int, int]] = {}
        self._messages = self._without_time = 0
        self._times: tuple[int, int] | None = None
        for start, end, content in self._contents(0, None):
            self._add(content, start, end)

    def batches(self, partition: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the messages in the order of the file; of one partition, from its first to its last line."""
        start, end = (0, None) if partition is None else self._lines[partition]
        while True:
            rows, start = self._chunk(start, end, partition)
            if not rows:
                return
            yield pa.RecordBatch.from_pylist(rows, COLUMNS)

    @cached_property
    def extent(self) -> Extent:
        """The extent."""
        oldest, newest = self._times or (None, None)
        return Extent(self._messages, tuple(sorted(self._lines)), oldest, newest, self._without_time)

    def _chunk(self, start: int, end: int | None, partition: int | None) -> tuple[list[dict[str, Any]], int]:
        """Return some messages, and where the next ones begin; the file is open only meanwhile.

        A replay reads all partitions at a time, of which a topic may have more than a process may have open files.
        """
        rows, size = list[dict[str, Any]](), 0
        with closing(self._contents(start, end)) as contents:
            for line_start, line_end, content in contents:
                start = line_end
                if isinstance(content, dict) and partition in (None, content["partition"]):
                    rows.append(content)
                    size += line_end - line_start
                    if len(rows) >= BATCH_ROWS or size >= BATCH_BYTES:
                        break
        return rows, start

    def _add(self, content: RecordedTopic | RecordedSchema | dict[str, Any], start: int, end: int) -> None:
        if isinstance(content, RecordedTopic):
            self.topic = content
        elif isinstance(content, RecordedSchema):
            self.schemas = (*self.schemas, content)
        else:
            self._messages += 1
            partition, time = content["partition"], content["timestamp"]
            self._lines[partition] = (self._lines.get(partition, (start, end))[0], end)
            if time is None:
                self._without_time += 1
            else:
                oldest, newest = self._times or (time // 1000, time // 1000)
                self._times = min(oldest, time // 1000), max(newest, time // 1000)
            if self.topic.name is None:
                self.topic = RecordedTopic(content["topic"], self.topic.partitions)

    def _contents(
        self, start: int, end: int | None
    ) -> Generator[tuple[int, int, RecordedTopic | RecordedSchema | dict[str, Any]]]:
        """Yield the content of each line from one position up to another, after those where it begins and ends."""
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                position = start
                # Not by `splitlines`, which takes more characters for the end of a line
                for number, line in enumerate(file, 1):
                    if position == end:
                        return
                    position += len(line)
                    if line.strip():
                        yield position - len(line), position, self._content(line, number)
        except OSError as error:
            raise CommandError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _content(self, line: bytes, number: int) -> RecordedTopic | RecordedSchema | dict[str, Any]:
        try:
            content = _object(line)
            if _TOPIC in content:
                return RecordedTopic.from_json(content[_TOPIC], self.path)
            return RecordedSchema.from_json(content[_SCHEMA]) if _SCHEMA in content else _row(content)
        except RecursionError:
            raise CommandError(f"{self.path}, line {number}: objects and lists are nested too deeply") from None
        except KeyError as error:
            raise CommandError(f"{self.path}, line {number}: {error} is missing") from None
        except (ValueError, TypeError) as error:
            raise CommandError(f"{self.path}, line {number}: {error}") from None


def _object(line: bytes) -> dict[str, Any]:
    content = json.loads(line)
    if not isinstance(content, dict):
        raise TypeError("expected a JSON object")
    return content


def _line(row: Mapping[str, Any], time: int | None) -> dict[str, Any]:
    headers = row["headers"]
    return {
        "topic": row["topic"],
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": None if time is None else _time_text(time),
        "timestampType": row["timestampType"],
        **_payload("key", row["key"]),
        "headers": headers and [{"key": header["key"], **_payload("value", header["value"])} for header in headers],
        **_payload("value", row["value"]),
    }


def _row(line: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in line if name not in _FIELDS]
    if unknown:
        raise ValueError(f"there is no field {unknown[0]!r} in messages; expected some of {', '.join(sorted(_FIELDS))}")
    headers = _checked("headers", line.get("headers"), list)
    return {
        "key": _bytes("key", line),
        "value": _bytes("value", line, is_required=True),
        "topic": _checked("topic", line.get("topic"), str),
        "partition": _whole_number("partition", line.get("partition"), 0, _MAX_INT) or 0,
        "offset": _whole_number("offset", line.get("offset"), 0, _MAX_BIGINT),
        "timestamp": _microseconds(line.get("timestamp")),
        "timestampType": _whole_number("timestampType", line.get("timestampType"), -1, 1),
        "headers": headers and [_header(header) for header in headers],
    }


def _header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict):
        raise TypeError(f"a header is {json.dumps(header)}, expected a JSON object with key and value")
    if header["key"] is None:
        raise TypeError("the key of a header is null, expected str")
    return {"key": _checked("key", header["key"], str), "value": _bytes("value", header, is_required=True)}


def _payload(name: str, payload: bytes | None) -> dict[str, str | None]:
    """Return a field for a payload, whose name says what it holds."""
    if payload is None:
        return {name: None}
    text = payload_text(payload)
    return {f"{name}{_BASE64}": base64.b64encode(payload).decode()} if text is None else {name: text}


def _bytes(name: str, line: Mapping[str, Any], *, is_required: bool = False) -> bytes | None:
    encoded = _checked(f"{name}{_BASE64}", line.get(f"{name}{_BASE64}"), str)
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{name}{_BASE64} is not base64: {error}") from None
    text = _checked(name, line[name] if is_required else line.get(name), str)
    return None if text is None else text.encode()


def _checked(name: str, value: Any, type_: type) -> Any:
    if value is not None and (not isinstance(value, type_) or isinstance(value, bool)):
        raise TypeError(f"{name} is {json.dumps(value)}, expected {type_.__name__}")
    return value


def _whole_number(name: str, value: Any, least: int, most: int) -> int | None:
    number: int | None = _checked(name, value, int)
    if number is not None and not least <= number <= most:
        raise ValueError(f"{name} is {number}, expected {least} to {most}")
    return number


def _time_text(time: int) -> str | int:
    """Return a time as text; as ms since 1970 where no calendar goes as far.

    Args:
        time: Microseconds since 1970.
    """
    try:
        moment = _EPOCH + time * _MICROSECOND
    except OverflowError:
        return time // 1000
    precision = "microseconds" if time % 1000 else "milliseconds"
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"


def _microseconds(time: Any) -> int | None:
    if time is None:
        return None
    if isinstance(time, str):
        moment = datetime.fromisoformat(time)
        if moment.tzinfo is None:
            raise ValueError(f"timestamp {time!r} has no time zone, such as Z")
        return (moment - _EPOCH) // _MICROSECOND
    millis = _whole_number("timestamp", time, -_MAX_MILLIS, _MAX_MILLIS)
    return None if millis is None else millis * 1000
