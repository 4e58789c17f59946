"""How metadata columns are chosen in options."""

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
    "leader-epoch",
    "__raw_key__",
    "__raw_value__",
)


_OF_VALUE = "value."


class MetadataColumn(NamedTuple):
    """A metadata key, and the column that shows it."""

    key: str
    column: str

    @property
    def format_key(self) -> str | None:
        """The key without ``value.`` where the format of values tells it; None where every message has it."""
        return self.key.removeprefix(_OF_VALUE) if self.key.startswith(_OF_VALUE) else None


def format_metadata_keys(chosen: Iterable[MetadataColumn]) -> list[str]:
    """The keys that the format of values has to tell, each once."""
    return list(dict.fromkeys(one.format_key for one in chosen if one.format_key is not None))


def parse_metadata_columns(text: str) -> tuple[MetadataColumn, ...]:
    """The metadata columns of a list such as ``timestamp AS event_time, partition``.

    Which keys that begin with ``value.`` there are is for the format to say.

    Raises:
        ValueError: A key is unknown, a part is malformed, or a column is named twice.
    """
    chosen = tuple(_parse_one(part) for part in text.split(","))
    names = [one.column for one in chosen]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each column once, but {', '.join(repeated)} is repeated")
    return chosen


def _parse_one(part: str) -> MetadataColumn:
    match = re.fullmatch(r"\s*(\S+)(?:\s+AS\s+(\S+))?\s*", part, re.IGNORECASE)
    if match is None:
        raise ValueError("expected metadata columns such as 'timestamp AS event_time, partition'")
    if match[1] not in METADATA_KEYS and not match[1].startswith(_OF_VALUE):
        raise ValueError(f"expected keys out of {', '.join(METADATA_KEYS)}, but there is {match[1]!r}")
    return MetadataColumn(match[1], match[2] or match[1])
