"""Which options hold secrets, and a mapping that never shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_SECRET = re.compile(
    r"password|passphrase|secret|jaas|token|credential|user[.-]info|\.key(\.pem)?$|private|sasl\.username|"
    r"oauthbearer\.(config|extensions)",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Whether an option's value must never be shown, judged by its name."""
    return _SECRET.search(name) is not None


def parse_shared_secret(text: str) -> bytes:
    """A secret that millrace has made, in hexadecimal digits.

    Raises:
        ValueError: It is none.
    """
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if not secret:
        # Without a cause, whose message could show a part of it
        raise ValueError("expected hexadecimal digits, as SinkMetrics.options has them")
    return secret


class Properties(Mapping[str, str]):
    """Kafka client properties; its text never shows a secret."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> str:
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
        shown = {name: "***" if is_secret(name) else value for name, value in self._values.items()}
        return f"Properties({shown})"
