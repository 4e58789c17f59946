"""The contract of dialects: ways to write the options of Kafka connectors and clients.

A package offers a dialect by an entry point of the group ``millrace.dialects``: its name is the dialect's name, its
value the ``module:Class`` of a subclass of `OptionDialect`. Each dialect translates into millrace's options and back,
so that any two of them can be converted into each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Side(StrEnum):
    """The direction that options are for."""

    READ = "read"
    WRITE = "write"


class Omission(StrEnum):
    """The reason why an option is not written."""

    DROPPED = "dropped"
    UNDECIDED = "yours to decide"


@dataclass(frozen=True)
class OptionSet:
    """The options that a text holds.

    Attributes:
        options: Values by name.
        side: The direction, where the text says it.
        unreadable: Sentences, by name, on options whose values only a run of a program would tell.
        notes: Sentences on what the text holds beside options.
    """

    options: Mapping[str, str] = field(repr=False)
    side: Side | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TranslationStep:
    """The translation of options that belong together, into another dialect.

    Attributes:
        before: The options that are translated.
        after: Their translation; empty without a loss where the other side does this anyway.
        loss: The reason why some of them, or all, are not written.
        reason: A sentence on the loss, or on what else to know.
    """

    before: Mapping[str, str] = field(repr=False)
    after: Mapping[str, str] = field(default_factory=dict, repr=False)
    loss: Omission | None = None
    reason: str = ""


class OptionDialect(ABC):
    """A way to write options.

    Attributes:
        title: The name in sentences, such as ``Kafka Connect``.
        committed_only: Whether reads skip records of aborted transactions where no option says so.
    """

    title: ClassVar[str]
    committed_only: ClassVar[bool] = False

    @abstractmethod
    def recognizes(self, text: str) -> bool:
        """Return whether a text is in this dialect, and in no other."""

    @abstractmethod
    def parse(self, text: str) -> OptionSet:
        """Return the options that a text holds.

        Raises:
            MillraceError: It is not in this dialect.
        """

    @abstractmethod
    def format(self, options: Mapping[str, str]) -> str:
        """Return options as a text that `parse` reads; secrets are written as they are."""

    @abstractmethod
    def to_millrace(self, options: Mapping[str, str], side: Side) -> Sequence[TranslationStep]:
        """Translate options of this dialect into millrace's; each is in one step."""

    @abstractmethod
    def from_millrace(self, options: Mapping[str, str], side: Side) -> Sequence[TranslationStep]:
        """Translate millrace's options into this dialect's; each is in one step."""

    def side_of(self, options: Mapping[str, str]) -> Side | None:
        """Return the direction that options of this dialect tell; None where they are for both."""
        return None

    def remarks(self, options: Mapping[str, str], side: Side) -> Sequence[str]:
        """Return sentences on what options of this dialect lack."""
        return ()


def dropped(name: str, value: str, reason: str) -> TranslationStep:
    """Return the step of an option that the other side cannot have."""
    return TranslationStep({name: value}, loss=Omission.DROPPED, reason=reason)


def undecided(name: str, value: str, reason: str) -> TranslationStep:
    """Return the step of an option that only its user can translate."""
    return TranslationStep({name: value}, loss=Omission.UNDECIDED, reason=reason)


def implied(options: Mapping[str, str], reason: str) -> TranslationStep:
    """Return the step of options that ask for what happens anyway."""
    return TranslationStep(options, reason=reason)


def attempt(before: Mapping[str, str], translate: Callable[[], Mapping[str, str]]) -> TranslationStep:
    """Return the step of options whose values may be wrong; it is left to decide what they should be.

    Args:
        before: The options.
        translate: Returns their translation, or raises a `ValueError` that says what is expected.
    """
    try:
        return TranslationStep(before, translate())
    except ValueError as error:
        return TranslationStep(before, loss=Omission.UNDECIDED, reason=str(error))
