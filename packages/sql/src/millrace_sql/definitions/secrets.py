"""References in the options of tables, and options that hold secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from millrace.options.references import REFERENCE, ReferenceValues, UnresolvedReferenceError
from millrace.options.secrets import MASK, Properties, is_secret
from millrace_sql.errors import PASSWORD_IN_URL, SqlError


class References:
    """Replace references by their values.

    Args:
        secret_values: Values of ``${secret_values.name}``, by name.
        variables: Values of ``${name}``, by name.
    """

    def __init__(
        self, secret_values: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self._values = ReferenceValues(secret_values or {}, variables or {}, _advice)

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
            if any(self._values.get(match["name"]) is None for match in REFERENCE.finditer(text))
        }
        known = {name: text for name, text in options.items() if name not in without_value}
        return Properties({**options, **self.resolve("", known)}), without_value

    def _resolve_text(self, table: str, option: str, text: str) -> str:
        try:
            return self._values.resolve(text).text
        except UnresolvedReferenceError as error:
            raise SqlError(f"table {table}, option {option!r}: {error}") from None


def _advice(name: str, is_secret: bool) -> str:
    argument, in_shell = (
        ("secret_values", "a line of millrace sql --secrets FILE") if is_secret else ("variables", "millrace sql --var")
    )
    return f"give it by {in_shell}, or by TableEnvironment(spark, {argument}={{{name!r}: ...}})"


def plain_secrets(options: Mapping[str, str]) -> list[str]:
    """Return the names of the options that hold a secret as it is, not as a reference."""
    return [name for name, text in options.items() if _holds_secret(name, text) and not _is_reference(name, text)]


def without_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """Return options for people: ``***`` stands for secrets, and references stay."""
    hidden = set(plain_secrets(options))
    return {name: MASK if name in hidden else text for name, text in options.items()}


def _holds_secret(name: str, text: str) -> bool:
    # The URL of a schema registry or of a database may hold a password
    return is_secret(name) or PASSWORD_IN_URL.search(text) is not None


def _is_reference(name: str, text: str) -> bool:
    if not is_secret(name):
        return all(REFERENCE.fullmatch(match["password"]) for match in PASSWORD_IN_URL.finditer(text))
    # A JAAS configuration holds a password among other words
    password = re.search(r"password\s*=\s*[\"']?([^\"';\s]*)", text) if "jaas" in name.lower() else None
    return REFERENCE.fullmatch(password[1] if password else text) is not None
