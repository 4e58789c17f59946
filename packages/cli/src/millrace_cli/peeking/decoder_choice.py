"""Choose the decoder of a topic's messages: of a named format, of a catalog's table, or of what they seem to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from millrace.errors import MessageError
from millrace_cli.dead_letters import origin_of
from millrace_cli.format_guess import guess_format
from millrace_cli.peeking.decoding import DeadLetterDecoder, FormatDecoder, MessageDecoder, with_columns
from millrace_cli.peeking.topic_messages import TopicMessages
from millrace_cli.tables import printable

if TYPE_CHECKING:
    from millrace.contracts import Catalog

_GUESSED_FROM = 20
_JSON = "json"
_METADATA = "__raw_key__ AS message_key, headers, partition, offset, timestamp"


def print_note(text: str) -> None:
    """Tell people something, on standard error."""
    click.echo(printable(f"millrace: {text}"), err=True)


@dataclass(frozen=True)
class DecoderChoice:
    """A topic, and the ways to read it.

    Attributes:
        topic: The topic.
        client: The client's properties, under Kafka's names.
        options: Further options of the read.
        format: The format; None when it is not named.
        columns: The columns, as ``id BIGINT, name STRING``; None when the format finds them.
        registry: The URL of the schema registry to ask for formats.
        metadata: Whether to show keys, headers and positions.
        open_catalog: Opens the catalog to look the topic up in.
        guesses: Whether to guess the format when it is not named, before the catalog is asked.
        note: Gets what is worth telling people, such as the guess.
    """

    topic: str
    client: Mapping[str, str]
    options: Mapping[str, str]
    open_catalog: Callable[[], Catalog] = field(repr=False)
    format: str | None
    columns: str | None
    registry: str | None
    metadata: bool
    guesses: bool
    note: Callable[[str], None] = print_note

    def messages(self) -> TopicMessages:
        """Return the messages of the topic.

        Raises:
            UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
        """
        return TopicMessages({**self._client_options, "topic": self.topic, "format": "raw"})

    def decoder(self, messages: TopicMessages) -> MessageDecoder:
        """Return the decoder of the topic's messages.

        Raises:
            ClientError, RegistryError: The brokers or the registry did not answer.
            OptionsError, SchemaError: The format needs other options, or to be told the columns.
        """
        if self.format is not None:
            return self._format_decoder(self.format)
        chosen = self._guessed(messages) if self.guesses or self.metadata or self.columns else None
        return chosen or self._catalog_decoder()

    def _guessed(self, messages: TopicMessages) -> MessageDecoder | None:
        """Return the decoder for what the messages seem to be; None for JSON, whose columns the catalog finds."""
        newest = messages.newest(_GUESSED_FROM)
        if "format" in self.options:
            # An option of the catalog
            return self._format_decoder(self.options["format"]) if self.metadata or self.columns else None
        if any(map(origin_of, newest)):
            self.note("these are dead letters, judging by their headers; --format shows them as messages")
            return DeadLetterDecoder()
        guess = guess_format([message.value() for message in newest], self.registry)
        if guess.format == _JSON and not self.metadata and not self.columns:
            return None
        self.note(f"reading with format {guess.format}: {guess.reason}")
        return self._format_decoder(guess.format, guess.options, guess.columns)

    def _format_decoder(
        self, name: str, needed: Mapping[str, str] | None = None, columns: str | None = None
    ) -> MessageDecoder:
        shown = {"metadata.columns": _METADATA} if self.metadata else {}
        # Malformed messages are shown, and columns are inferred from the others
        tolerant = {"ingestion.ignore-errors": "true"}
        common = {**self._client_options, "topic": self.topic, "format": name, **tolerant, **shown}
        given = {**common, **(needed or {}), **self.options}
        columns = self.columns or columns
        return FormatDecoder(*((given, None) if columns is None else with_columns(given, columns)))

    def _catalog_decoder(self) -> MessageDecoder:
        try:
            table = self.open_catalog().table(self.topic)
        except MessageError:
            # A malformed message keeps it from being a table
            return self._format_decoder(_JSON)
        return FormatDecoder(table.options, table.schema)

    @property
    def _client_options(self) -> dict[str, str]:
        return {f"properties.{name}": value for name, value in self.client.items()}
