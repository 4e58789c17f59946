"""Messages of a topic as rows, decoded by the code of ``millrace peek``, whose package may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError
from millrace.options.secrets import MASK, is_secret
from millrace_ui.topics.cells import hidden_reason, plain

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Message

    from millrace_cli.peeking.decoder_choice import DecoderChoice
    from millrace_cli.peeking.decoding import DecodedMessages, MessageDecoder
    from millrace_cli.peeking.topic_messages import TopicMessages
    from millrace_cli.row_filter import RowFilter

MAX_MESSAGES = 500
"""The number of messages that are shown at once."""

_SEARCHED = 5_000
_MAX_MALFORMED = 20
_PLACES = {"partition", "offset", "timestamp", "topic", "part", "format", "reason"}
_PLACES |= {f"dead_{name}" for name in ("partition", "offset", "timestamp")}


@dataclass(frozen=True)
class MessageFilter:
    """The messages to show, as the page's address has them.

    Attributes:
        topic: The topic.
        count: The number of the newest messages.
        format: Their format; empty to guess it.
        columns: Their columns, for formats that cannot find them; empty for none.
        registry: The URL of the schema registry; empty for none.
        where: A condition on their columns; empty for all.
    """

    topic: str
    count: int = 50
    format: str = ""
    columns: str = ""
    registry: str = ""
    where: str = ""


@dataclass
class _Notes:
    texts: list[str] = field(default_factory=list)


class TopicReader:
    """Read and decode messages of a topic.

    Args:
        properties: Kafka's client properties.
        wanted: The messages.
        shows_payloads: Whether keys and values are shown.

    Raises:
        MachineError: The package that decodes messages is not installed.
        MillraceError: The topic cannot be read, or not in this way.
    """

    def __init__(self, properties: Mapping[str, str], wanted: MessageFilter, *, shows_payloads: bool) -> None:
        self._wanted = wanted
        self._shows_payloads = shows_payloads
        self._notes = _Notes()
        self._condition = _condition(wanted.where)
        choice = _choice(properties, wanted, self._notes)
        self._messages: TopicMessages = choice.read.messages()
        self._decoder: MessageDecoder = choice.decoder(self._messages)

    def newest(self) -> dict[str, Any]:
        """Return the newest messages that fulfil the condition, the newest first."""
        searched = self._wanted.count if self._condition is None else _SEARCHED
        received = self._messages.newest(searched)
        return {**self._shown(received), "notes": self._notes.texts, "searched": len(received)}

    def follow(self) -> Iterator[dict[str, Any] | None]:
        """Yield messages as they come; None about every half second in which none came."""
        self._messages.newest(1)
        for received in self._messages.follow():
            yield self._shown(received) if received else None

    def _shown(self, received: list[Message]) -> dict[str, Any]:
        decoded: DecodedMessages = self._decoder.decode(received)
        rows = decoded.rows if self._condition is None else self._condition.apply(decoded.rows)
        newest = rows.slice(max(0, rows.num_rows - self._wanted.count))
        columns = [name for name in newest.schema.names if self._shows_payloads or name in _PLACES]
        return {
            "columns": columns,
            "rows": list(reversed(self._cells(newest.select(columns)))),
            "malformed": len(decoded.malformed),
            "malformedReasons": [
                str(record) if self._shows_payloads else hidden_reason(str(record))
                for record in decoded.malformed[-_MAX_MALFORMED:]
            ],
            "bytes": sum(len(message.value() or b"") + len(message.key() or b"") for message in received),
            "received": len(received),
        }

    def _cells(self, rows: pa.Table) -> list[list[Any]]:
        masked = {name for name in rows.schema.names if is_secret(name)}
        return [
            [
                MASK if name in masked else self._cell(name, value)
                for name, value in zip(rows.schema.names, row, strict=True)
            ]
            for row in zip(*(column.to_pylist() for column in rows.columns), strict=True)
        ]

    def _cell(self, name: str, value: Any) -> Any:
        if name == "reason" and value is not None and not self._shows_payloads:
            return hidden_reason(str(value))
        return plain(value)


def _condition(text: str) -> RowFilter | None:
    if not text:
        return None
    _require_command_line()
    from millrace_cli.row_filter import parse_row_filter

    return parse_row_filter(text)


def _choice(properties: Mapping[str, str], wanted: MessageFilter, notes: _Notes) -> DecoderChoice:
    _require_command_line()
    from millrace_cli.connection import DEFAULT_CATALOG, open_catalog
    from millrace_cli.peeking.decoder_choice import DecoderChoice
    from millrace_cli.peeking.topic_read import TopicRead

    read = TopicRead(
        wanted.topic,
        properties,
        {},
        wanted.format or None,
        wanted.columns or None,
        wanted.registry or None,
        metadata=True,
        note=notes.texts.append,
    )
    return DecoderChoice(read, lambda: open_catalog(DEFAULT_CATALOG, None, None, properties, {}), guesses=True)


def _require_command_line() -> None:
    try:
        import millrace_cli  # noqa: F401 - it is looked for
    except ImportError as error:
        raise MachineError("messages are decoded by a package that is missing: pip install millrace-cli") from error
