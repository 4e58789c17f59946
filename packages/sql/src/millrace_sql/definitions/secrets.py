"""References in options, which stand for values that a definition must not hold, such as passwords.

``${secret_values.name}`` and ``${name}`` are those of the reference; ``${env:NAME}`` is an addition.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from millrace.options.secrets import Properties, is_secret
from millrace.options.suggestions import closest
from millrace_sql.errors import PASSWORD_IN_URL, SqlError

_REFERENCE = re.compile(r"\$\{(?P<name>[^{}]*)\}")
_SECRETS = "secret_values."
_ENVIRONMENT = "env:"


class References:
    """Replace references by their values.

    Args:
        secret_values: Values of ``${secret_values.name}``, by name.
        variables: Values of ``${name}``, by name.
    """

    def __init__(
        self, secret_values: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self._secret_values = Properties({_SECRETS + name: value for name, value in (secret_values or {}).items()})
        self._variables = Properties(variables or {})

    def resolve(self, table: str, options: Mapping[str, str]) -> Properties:
        """Return options with values in place of references.

        Args:
            table: The table that they belong to, for errors.
            options: The options.

        Raises:
            SqlError: A reference has no value.
        """
        return Properties({name: self._resolve_text(table, name, text) for name, text in options.items()})

    def resolve_known(self, options: Mapping[str, str]) -> tuple[Properties, set[str]]:
        """Return options with values in place of references, and the names of those where one has none.

        These stay as they are written.
        """
        without_value = {
            name
            for name, text in options.items()
            if any(self._value(match["name"]) is None for match in _REFERENCE.finditer(text))
        }
        known = {name: text for name, text in options.items() if name not in without_value}
        return Properties({**options, **self.resolve("", known)}), without_value

    def _resolve_text(self, table: str, option: str, text: str) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = self._value(match["name"])
            if value is None:
                raise SqlError(f"table {table}, option {option!r}: {self._advice(match['name'])}")
            return value

        return _REFERENCE.sub(value_of, text)

    def _value(self, name: str) -> str | None:
        if name.startswith(_ENVIRONMENT):
            return os.environ.get(name.removeprefix(_ENVIRONMENT))
        values = self._secret_values if name.startswith(_SECRETS) else self._variables
        return values.get(name)

    def _advice(self, name: str) -> str:
        if name.startswith(_ENVIRONMENT):
            return f"'${{{name}}}' has no value: set the environment variable {name.removeprefix(_ENVIRONMENT)}"
        values, argument = (
            (self._secret_values, "secret_values") if name.startswith(_SECRETS) else (self._variables, "variables")
        )
        close = closest(name, values)
        hint = f"did you mean '${{{close}}}'? Or " if close else ""
        given = name.removeprefix(_SECRETS)
        in_shell = "a line of millrace sql --secrets FILE" if argument == "secret_values" else "millrace sql --var"
        return (
            f"'${{{name}}}' has no value: {hint}give it by {in_shell}, or by "
            f"TableEnvironment(spark, {argument}={{{given!r}: ...}})"
        )


def plain_secrets(options: Mapping[str, str]) -> list[str]:
    """Return the names of the options that hold a secret as it is, not as a reference."""
    return [name for name, text in options.items() if _holds_secret(name, text) and not _is_reference(name, text)]


def without_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """Return options for people: ``***`` stands for secrets, and references stay."""
    hidden = set(plain_secrets(options))
    return {name: "***" if name in hidden else text for name, text in options.items()}


def _holds_secret(name: str, text: str) -> bool:
    # The URL of a schema registry or of a database may hold a password
    return is_secret(name) or PASSWORD_IN_URL.search(text) is not None


def _is_reference(name: str, text: str) -> bool:
    if not is_secret(name):
        return all(_REFERENCE.fullmatch(match["password"]) for match in PASSWORD_IN_URL.finditer(text))
    # A JAAS configuration holds a password among other words
    password = re.search(r"password\s*=\s*[\"']?([^\"';\s]*)", text) if "jaas" in name.lower() else None
    return _REFERENCE.fullmatch(password[1] if password else text) is not None
