"""A topic, and the way to read it, as a command line describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from millrace.errors import OptionsError
from millrace_cli.dead_letters import origin_of
from millrace_cli.format_guess import Guess, guess_format
from millrace_cli.peeking.topic_messages import TopicMessages
from millrace_cli.tables import printable

if TYPE_CHECKING:
    from confluent_kafka import Message

GUESSED_FROM = 20
"""The number of messages from which a format is guessed."""

_METADATA = "__raw_key__ AS message_key, headers, partition, offset, timestamp"


def print_note(text: str) -> None:
    """Tell people something, on standard error."""
    click.echo(printable(f"millrace: {text}"), err=True)


@dataclass(frozen=True)
class TopicRead:
    """A topic, and the way to read it.

    Attributes:
        topic: The topic.
        client: The client's properties, under Kafka's names.
        options: Further options of the read.
        format: The format; None when it is not named.
        columns: The columns, as ``id BIGINT, name STRING``; None when the format finds them.
        registry: The URL of the schema registry to ask for formats.
        metadata: Whether to show keys, headers and positions.
        registry_options: Options of the registry's client, such as its login.
        note: Gets what is worth telling people, such as the guess.
    """

    topic: str
    client: Mapping[str, str]
    options: Mapping[str, str]
    format: str | None
    columns: str | None
    registry: str | None
    metadata: bool
    registry_options: Mapping[str, str] = field(default_factory=dict)
    note: Callable[[str], None] = print_note

    def messages(self) -> TopicMessages:
        """Return the messages of the topic.

        Raises:
            UnknownTopicError, ClientError: There is no such topic, or the brokers did not answer.
        """
        return TopicMessages({**self._client_options, "topic": self.topic, "format": "raw"})

    def raw_options(self) -> dict[str, str]:
        """Return the options of a read without a format."""
        return {**self._client_options, "topic": self.topic, **self.options}

    def find_options(self) -> dict[str, str]:
        """Return the options of the read, in the format that is named, or that the newest messages seem to have.

        Raises:
            OptionsError: The messages are dead letters, or the columns are wrong.
            UnknownTopicError, ClientError, RegistryError: The topic, the brokers or the registry do not tell.
        """
        named = self.format or self.options.get("format", self.options.get("value.format"))
        if named is not None:
            return self.options_for(named)
        guess = self.guess(self.messages().newest(GUESSED_FROM))
        if guess is None:
            problem = "these are dead letters, judging by their headers; --format raw reads them as messages"
            raise OptionsError("source", (problem,))
        self.note_guess(guess)
        return self.options_for(guess.format, guess.options, guess.columns)

    def options_for(
        self, format_: str, needed: Mapping[str, str] | None = None, columns: str | None = None
    ) -> dict[str, str]:
        """Return the options of the read in a format.

        Args:
            format_: Its name.
            needed: Options of the format that the messages need.
            columns: The columns where the user gives none and the format cannot find them.

        Raises:
            OptionsError: The columns are wrong.
        """
        formats = {} if "value.format" in self.options else {"format": format_}
        shown = {"metadata.columns": _METADATA} if self.metadata else {}
        topic = {**self._client_options, "topic": self.topic}
        options = {**topic, **formats, **shown, **(needed or {}), **self.options}
        columns = self.columns or columns
        return options if columns is None else {**options, "columns": _spark_columns(columns)}

    def guess(self, newest: Sequence[Message]) -> Guess | None:
        """Guess the format of messages; None for dead letters.

        Raises:
            RegistryError: The registry does not tell the schema of the messages.
        """
        if any(map(origin_of, newest)):
            return None
        return guess_format([message.value() for message in newest], self.registry, self.registry_options)

    def note_guess(self, guess: Guess) -> None:
        """Tell people the guess that is used."""
        self.note(f"reading with format {guess.format}: {guess.reason}")

    @property
    def _client_options(self) -> dict[str, str]:
        return {f"properties.{name}": value for name, value in self.client.items()}


def _spark_columns(text: str) -> str:
    """Return columns with SQL's types, such as ``id BIGINT``, as the option ``columns`` takes them.

    Raises:
        OptionsError: The text is no list of columns.
    """
    from millrace_catalog.types import parse_schema
    from millrace_catalog.types.spark_ddl import spark_ddl

    try:
        return spark_ddl(parse_schema(text))
    except ValueError as error:
        raise OptionsError("source", (f"--schema: {error}",)) from None
