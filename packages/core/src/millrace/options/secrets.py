"""Recognize options that hold secrets; a mapping of client properties that never shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MASK = "***"
"""The text that people see instead of a secret."""

_SECRET = re.compile(
    r"password|passphrase|secret|jaas|token|credential|user[.-]info|\.key(\.pem)?$|private|sasl\.username|"
    r"oauthbearer\.(config|extensions)",
    re.IGNORECASE,
)

# A URL may have user and password in it; a password that is pasted as it is may have slashes and @, see `split_login`.
# Oracle's driver has them without slashes before them
_USER_INFO = re.compile(r"""(://)(?:[^/\s:@"']+:(?:(?!,\s*[\w.+-]+://)[^\s"'])+|[^/\s]+)@|(:thin:)[^@\s]+@""")

# What URLs, connection strings and JAAS configurations call their secrets in addition to the names of options
_SHORT_NAME = re.compile(r"(^|[._-])(passwd|pwd|pass|sig|signature|(api|access)[._-]?key)$", re.IGNORECASE)

_NAME = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]+)(\s*=\s*|["']\s*:\s*)""")

# Braces are quotes in URLs of SQL Server. A quote that is never closed quotes all that follows
_VALUE = re.compile(r"""["](?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\{[^}]*\}?|[^\s&;]+""", re.DOTALL)


def is_secret(name: str) -> bool:
    """Return whether the value of an option must never be shown, judged by the option's name."""
    return _SECRET.search(name) is not None


def split_login(url: str) -> tuple[str, str | None]:
    """Split a URL into what errors and logs may show, and its login.

    The login ends at the last @, although a URL allows no / ? # in it: passwords that services give out have them, and
    people paste them as they are. What follows the first of them would otherwise be a path, which errors show.

    Args:
        url: A URL such as ``https://NAME:PASSWORD@HOST``.

    Returns:
        The URL without the login; name and password, decoded, or None where the URL has none.
    """
    scheme, separator, rest = url.strip().partition("://")
    login, _, address = (rest if separator else scheme).rpartition("@")
    return (f"{scheme}://{address}" if separator else address), unquote(login) if login else None


def without_secrets(text: str) -> str:
    """Return a text without the secrets of URLs and connection strings: ``user:password@`` and ``password=...``."""
    return _without_parameters(_USER_INFO.sub(rf"\1\2{MASK}@", text))


def without_values(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets. The longest goes first: a shorter one may be the beginning of it."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def masked_value(name: str, value: str) -> str:
    """Return an option's value for people: masked where its name says that it is secret, else `without_secrets`."""
    return MASK if is_secret(name) else without_secrets(value)


def _without_parameters(text: str) -> str:
    parts, end = list[str](), 0
    for match in _NAME.finditer(text):
        value = _VALUE.match(text, match.end())
        # What looks like a name within a secret is a part of it
        if value is not None and match.start() >= end and _names_a_secret(match["name"]):
            parts += [text[end : match.end()], MASK]
            end = value.end()
    return "".join([*parts, text[end:]])


def _names_a_secret(name: str) -> bool:
    return is_secret(name) or _SHORT_NAME.search(name) is not None


class Properties(Mapping[str, Any]):
    """Kafka client properties; their ``repr`` never shows a secret.

    Values are text, except for the token provider's and, in the settings of a client, its callback's.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._values.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Properties) and self._values == other._values

    def __repr__(self) -> str:
        return f"Properties({self.masked()})"

    def masked(self) -> dict[str, Any]:
        """Return the values for people, without secrets."""
        return {name: MASK if is_secret(name) else value for name, value in self._values.items()}
