"""What the methods of a builder have set: options by name, and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from millrace.errors import OptionsError
from millrace.options.parser import show
from millrace.options.secrets import Properties

_ADDED_UP = {"metadata.columns"}
"""Options that are lists: what is set later is added."""


class _Given(NamedTuple):
    method: str
    name: str
    text: str


class Settings:
    """Options that are set one after the other, each once; its text shows no secret."""

    def __init__(self) -> None:
        self._given: dict[str, _Given] = {}
        self._problems: dict[str, None] = {}

    @property
    def options(self) -> Properties:
        """The options as they are now."""
        return Properties({given.name: given.text for given in self._given.values()})

    def has(self, *names: str) -> bool:
        """Whether one of these options is set; names are compared without case, as everywhere."""
        return any(name.lower() in self._given for name in names)

    def value(self, name: str) -> str | None:
        """The value of an option; None when it is not set."""
        given = self._given.get(name.lower())
        return given.text if given else None

    def set(self, method: str, options: Mapping[str, object]) -> None:
        """Set options; what cannot be the value of one, or contradicts what is set, is reported.

        Args:
            method: The method that sets them, for messages.
            options: Their values by name.
        """
        for name, value in options.items():
            try:
                given = _Given(method, name, text_of(value))
            except ValueError as error:
                self.report(f"{method}: option {name!r}: {error}")
                continue
            self._add(given)

    def report(self, problem: str) -> None:
        """Add a problem, to be raised with all others by `refuse`."""
        self._problems[problem] = None

    def refuse(self, what: str, further: Iterable[str] = ()) -> None:
        """Raise all problems, if there are any.

        Args:
            what: What is built, for the message.
            further: Problems of this moment, which may be gone when more is set.

        Raises:
            OptionsError: There are some.
        """
        problems = tuple(dict.fromkeys([*self._problems, *further]))
        if problems:
            raise OptionsError(what, problems)

    def _add(self, given: _Given) -> None:
        key = given.name.lower()
        first = self._given.setdefault(key, given)
        if first.text != given.text and key in _ADDED_UP:
            self._given[key] = first._replace(text=f"{first.text}, {given.text}")
        elif first.text != given.text:
            self.report(_contradiction(first, given))

    def __repr__(self) -> str:
        return repr(self.options)


def text_of(value: object) -> str:
    """The value of an option as its text.

    Raises:
        ValueError: It is nothing that an option could be.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    # Only the type is named: the value may be a secret
    raise ValueError(f"expected a text, a number, True or False; got {type(value).__name__}")


def _contradiction(first: _Given, second: _Given) -> str:
    return (
        f"option {first.name!r} is set to {show(first.name, first.text)} by {first.method} and to "
        f"{show(second.name, second.text)} by {second.method}; set it once"
    )
