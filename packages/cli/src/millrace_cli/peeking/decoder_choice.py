"""Choose the decoder of a topic's messages: of a named format, of a catalog's table, or of what they seem to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.errors import MessageError
from millrace_cli.peeking.decoding import DeadLetterDecoder, FormatDecoder, MessageDecoder
from millrace_cli.peeking.topic_messages import TopicMessages
from millrace_cli.peeking.topic_read import GUESSED_FROM, TopicRead

if TYPE_CHECKING:
    from millrace.contracts import Catalog

_JSON = "json"


@dataclass(frozen=True)
class DecoderChoice:
    """A topic, and the ways to decode it.

    Attributes:
        read: The topic, and the way to read it.
        open_catalog: Opens the catalog to look the topic up in.
        guesses: Whether to guess the format when it is not named, before the catalog is asked.
    """

    read: TopicRead
    open_catalog: Callable[[], Catalog] = field(repr=False)
    guesses: bool

    def decoder(self, messages: TopicMessages) -> MessageDecoder:
        """Return the decoder of the topic's messages.

        Raises:
            ClientError, RegistryError: The brokers or the registry did not answer.
            OptionsError, SchemaError: The format needs other options, or to be told the columns.
        """
        if self.read.format is not None:
            return self._format_decoder(self.read.format)
        chosen = self._guessed(messages) if self.guesses or self._goes_beyond_catalog else None
        return chosen or self._catalog_decoder()

    @property
    def _goes_beyond_catalog(self) -> bool:
        return self.read.metadata or bool(self.read.columns)

    def _guessed(self, messages: TopicMessages) -> MessageDecoder | None:
        """Return the decoder for what the messages seem to be; None for JSON, whose columns the catalog finds."""
        newest = messages.newest(GUESSED_FROM)
        if "format" in self.read.options:
            # An option of the catalog
            return self._format_decoder(self.read.options["format"]) if self._goes_beyond_catalog else None
        guess = self.read.guess(newest)
        if guess is None:
            self.read.note("these are dead letters, judging by their headers; --format shows them as messages")
            return DeadLetterDecoder()
        if guess.format == _JSON and not self._goes_beyond_catalog:
            return None
        self.read.note_guess(guess)
        return self._format_decoder(guess.format, guess.options, guess.columns)

    def _format_decoder(
        self, name: str, needed: Mapping[str, str] | None = None, columns: str | None = None
    ) -> MessageDecoder:
        # Malformed messages are shown, and columns are inferred from the others
        tolerant = {"ingestion.ignore-errors": "true"}
        return FormatDecoder({**tolerant, **self.read.options_for(name, needed, columns)}, None)

    def _catalog_decoder(self) -> MessageDecoder:
        try:
            table = self.open_catalog().table(self.read.topic)
        except MessageError:
            # A malformed message keeps it from being a table
            return self._format_decoder(_JSON)
        return FormatDecoder(table.options, table.schema)
