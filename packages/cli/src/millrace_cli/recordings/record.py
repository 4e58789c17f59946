"""Record the messages of a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from millrace.api.arrow import read_arrow
from millrace.kafka.admin import KafkaAdmin
from millrace_cli.recordings.contents import COLUMNS, RecordedTopic
from millrace_cli.recordings.files import new_recording
from millrace_cli.recordings.schema_ids import PARTS, SchemaCollector, names_schema
from millrace_cli.schema_registry import registry_call

if TYPE_CHECKING:
    from millrace.options.secrets import Properties
    from millrace_cli.peeking.topic_read import TopicRead
    from millrace_cli.recordings.masking.message_masks import MessageMasks
    from millrace_cli.row_filter import RowFilter

_METADATA = {
    "key": "__raw_key__",
    "value": "__raw_value__",
    "topic": "topic",
    "partition": "partition",
    "offset": "offset",
    "timestamp": "timestamp",
    "timestampType": "timestamp-type",
    "headers": "header-list",
}
"""The metadata that has the columns of a recording, for a read with a format."""

_PREFIX = "__recorded_"
"""The beginning of the names of these columns, which those of a format do not have."""

_TIMESTAMP_TYPES = pa.array(["CreateTime", "LogAppendTime"])


@dataclass(frozen=True)
class RecordedRange:
    """The messages to record.

    Attributes:
        since: The smallest timestamp, in ms since 1970; None for any.
        until: Timestamp of the first message of each partition that is left out, with those after it; None for none.
        limit: The number of messages at most; None for all.
        condition: What must be true of a row of the message; None for all messages.
    """

    since: int | None = None
    until: int | None = None
    limit: int | None = None
    condition: RowFilter | None = None

    def options(self) -> dict[str, str]:
        """Return the options of a read that starts and stops there."""
        options: dict[str, str] = {}
        if self.since is not None:
            options |= {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": str(self.since)}
        if self.until is not None:
            options |= {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": str(self.until)}
        return options


@dataclass
class RecordingCounts:
    """Numbers of what was recorded.

    Attributes:
        messages: The number of messages.
        schemas: The number of schemas.
        masked: How often something of each kind was masked.
    """

    messages: int = 0
    schemas: int = 0
    masked: Counter[str] = field(default_factory=Counter)


def record_topic(
    path: Path,
    client: Properties,
    read: TopicRead,
    selected: RecordedRange,
    masks: MessageMasks | None,
    note: Callable[[str], None],
) -> RecordingCounts:
    """Record messages of a topic, by partition and offset, up to the end that it has now.

    Args:
        path: The file; its ending tells the form.
        client: Properties for the Kafka client.
        read: The topic, its registry, and how to decode messages for the condition.
        selected: The messages.
        masks: What to mask; None for nothing.
        note: Gets what is worth telling people.

    Raises:
        CommandError: The file cannot be written, or the condition does not fit the rows of messages.
        MillraceError: The topic cannot be read, the registry lacks a schema, or a message cannot be masked.
    """
    partitions = KafkaAdmin(client).topics([read.topic])[read.topic].partitions
    collector = None if read.registry is None else _collector(read, read.registry)
    counts = RecordingCounts()
    batches = _messages(read, selected)
    with new_recording(path, RecordedTopic(read.topic, partitions)) as writer, closing(batches):
        for rows in batches:
            if (
                collector is None
                and counts.messages == 0
                and any(names_schema(rows[part][0].as_py()) for part in PARTS)
            ):
                note("messages seem to name schemas of a registry: --registry URL records them, too")
            for schema in collector.collect(rows) if collector is not None else ():
                writer.add_schema(schema)
                counts.schemas += 1
            writer.write(rows if masks is None else masks.apply(rows))
            counts.messages += rows.num_rows
        if collector is not None:
            collector.check(note)
    counts.masked = Counter() if masks is None else masks.masked
    return counts


def _messages(read: TopicRead, selected: RecordedRange) -> Generator[pa.Table]:
    """Yield the messages, with the columns of a recording."""
    remaining = selected.limit
    with closing(_all_messages(read, selected)) as batches:
        for batch in batches:
            rows = _since(batch, selected.since)
            rows = rows if remaining is None else rows.slice(0, remaining)
            if rows.num_rows:
                yield rows
            remaining = None if remaining is None else remaining - rows.num_rows
            if remaining == 0:
                return


def _since(rows: pa.Table, since: int | None) -> pa.Table:
    """Leave out older messages, which may come after newer ones."""
    if since is None:
        return rows
    return rows.filter(pc.greater_equal(rows["timestamp"].cast(pa.int64()), since * 1000))


def _all_messages(read: TopicRead, selected: RecordedRange) -> Generator[pa.Table]:
    if selected.condition is None:
        options = read.raw_options() | {"includeHeaders": "true", **selected.options()}
        with closing(read_arrow(options).read_in_order()) as batches:
            for batch in batches:
                yield pa.Table.from_batches([batch]).cast(COLUMNS)
    else:
        yield from _messages_of_rows(read, selected, selected.condition)


def _collector(read: TopicRead, url: str) -> SchemaCollector:
    return SchemaCollector(url, read.topic, registry_call(url, read.registry_options))


def _messages_of_rows(read: TopicRead, selected: RecordedRange, condition: RowFilter) -> Generator[pa.Table]:
    """Yield the messages with a row that fulfils the condition, each once."""
    metadata = ", ".join(f"{key} AS {_PREFIX}{column}" for column, key in _METADATA.items())
    options = {**read.find_options(), "metadata.columns": metadata, **selected.options()}
    last: tuple[int, int] | None = None
    with closing(read_arrow(options).read_in_order()) as batches:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            recorded = _recorded(rows)
            decoded = rows.select([name for name in rows.column_names if not name.startswith(_PREFIX)])
            messages = recorded.filter(pa.array(condition.mask(_with_metadata(decoded, recorded))))
            last, messages = _distinct(messages, last)
            yield messages


def _recorded(rows: pa.Table) -> pa.Table:
    """Return the messages of rows as a read without a format has them."""
    columns = {name: rows[f"{_PREFIX}{name}"] for name in COLUMNS.names}
    columns["timestampType"] = pc.fill_null(pc.index_in(columns["timestampType"], _TIMESTAMP_TYPES), -1)
    headers = columns["headers"]
    has_some = pc.greater(pc.list_value_length(headers), 0)
    columns["headers"] = pc.if_else(has_some, headers, pa.scalar(None, headers.type))
    return pa.table(columns).cast(COLUMNS)


def _with_metadata(decoded: pa.Table, recorded: pa.Table) -> pa.Table:
    """Return decoded rows with the columns of their messages, but those whose names the decoded ones have."""
    for name in recorded.column_names:
        if name not in decoded.column_names:
            decoded = decoded.append_column(name, recorded[name])
    return decoded


def _distinct(messages: pa.Table, last: tuple[int, int] | None) -> tuple[tuple[int, int] | None, pa.Table]:
    """Leave out all but the first row of each message: a change may have two.

    Args:
        messages: The message of each row.
        last: Partition and offset of the row before.

    Returns:
        Partition and offset of the last row, and the messages.
    """
    if not messages.num_rows:
        return last, messages
    places = list(zip(messages["partition"].to_pylist(), messages["offset"].to_pylist(), strict=True))
    is_new = [place != before for place, before in zip(places, [last, *places[:-1]], strict=True)]
    return places[-1], messages.filter(pa.array(is_new))
