"""References in options, which stand for values that a file must not hold, such as passwords.

``${secret_values.name}`` and ``${name}`` are those of the reference; ``${env:NAME}`` is an addition.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from millrace.options.suggestions import closest

REFERENCE = re.compile(r"\$\{(?P<name>[^{}]*)\}")
"""A reference, with its name."""

SECRETS = "secret_values."
"""The beginning of names that stand for secrets."""

_ENVIRONMENT = "env:"


class UnresolvedReferenceError(ValueError):
    """A reference has no value."""


class ResolvedText(NamedTuple):
    """A text with values in place of references.

    Attributes:
        text: The text.
        is_secret: Whether a part of it is a secret, so that it must not be shown.
    """

    text: str
    is_secret: bool


class Hidden(dict[str, str]):
    """Values by name whose ``repr`` shows only the names."""

    def __repr__(self) -> str:
        return f"Hidden({', '.join(sorted(self))})"


class ReferenceValues:
    """Values of references.

    Args:
        secret_values: Values of ``${secret_values.name}``, by name.
        variables: Values of ``${name}``, by name.
        advice: Returns what to do about a name without a value; its second argument is True for that of a secret.
    """

    def __init__(
        self,
        secret_values: Mapping[str, str],
        variables: Mapping[str, str],
        advice: Callable[[str, bool], str],
    ) -> None:
        self._secret_values = Hidden(secret_values)
        self._variables = Hidden(variables)
        self._advice = advice

    def resolve(self, text: str) -> ResolvedText:
        """Replace the references of a text.

        Raises:
            UnresolvedReferenceError: One has no value; the message says how to give it.
        """
        return ResolvedText(REFERENCE.sub(self._replace, text), any(map(_is_secret, REFERENCE.finditer(text))))

    def _replace(self, match: re.Match[str]) -> str:
        name = match["name"]
        value = self.get(name)
        if value is None:
            raise UnresolvedReferenceError(f"'${{{name}}}' has no value: {self._what_to_do(name)}")
        return value

    def get(self, name: str) -> str | None:
        """Return the value of a reference; None when it has none."""
        if name.startswith(_ENVIRONMENT):
            return os.environ.get(name.removeprefix(_ENVIRONMENT))
        if name.startswith(SECRETS):
            return self._secret_values.get(name.removeprefix(SECRETS))
        return self._variables.get(name)

    def _what_to_do(self, name: str) -> str:
        if name.startswith(_ENVIRONMENT):
            return f"set the environment variable {name.removeprefix(_ENVIRONMENT)}"
        is_secret = name.startswith(SECRETS)
        prefix, bare = (SECRETS, name.removeprefix(SECRETS)) if is_secret else ("", name)
        close = closest(bare, self._secret_values if is_secret else self._variables)
        hint = f"did you mean '${{{prefix}{close}}}'? Or " if close else ""
        return hint + self._advice(bare, is_secret)


def _is_secret(match: re.Match[str]) -> bool:
    return match["name"].startswith(SECRETS)
