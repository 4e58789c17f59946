"""Parse the option ``metadata.columns``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

METADATA_KEYS = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp-type",
    "headers",
    "header-list",
    "traceparent",
    "leader-epoch",
    "__raw_key__",
    "__raw_value__",
)


_FORMAT_PREFIX = "value."


class SelectedMetadata(NamedTuple):
    """A metadata key and the column that holds its values."""

    key: str
    column: str

    @property
    def format_key(self) -> str | None:
        """The key in the metadata of the format of values, without ``value.``; None for keys that every message has."""
        return self.key.removeprefix(_FORMAT_PREFIX) if self.key.startswith(_FORMAT_PREFIX) else None


def format_metadata_keys(chosen: Iterable[SelectedMetadata]) -> list[str]:
    """Return the keys that the format of values must provide, each once."""
    return list(dict.fromkeys(one.format_key for one in chosen if one.format_key is not None))


def parse_metadata_columns(text: str) -> tuple[SelectedMetadata, ...]:
    """Parse a list such as ``timestamp AS event_time, partition``.

    Keys that begin with ``value.`` are not checked, since they depend on the format.

    Raises:
        ValueError: A key is unknown, a part is malformed, or a column is named twice.
    """
    chosen = tuple(_parse_one(part) for part in text.split(","))
    names = [one.column for one in chosen]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each column once, but {', '.join(repeated)} is repeated")
    return chosen


def _parse_one(part: str) -> SelectedMetadata:
    match = re.fullmatch(r"\s*(\S+)(?:\s+AS\s+(\S+))?\s*", part, re.IGNORECASE)
    if match is None:
        raise ValueError("expected metadata columns such as 'timestamp AS event_time, partition'")
    if match[1] not in METADATA_KEYS and not match[1].startswith(_FORMAT_PREFIX):
        raise ValueError(f"expected keys out of {', '.join(METADATA_KEYS)}, but there is {match[1]!r}")
    return SelectedMetadata(match[1], match[2] or match[1])
