"""Translate the filters of a query to conditions by which fewer offsets are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from millrace.configuration import SourceConfig
from millrace.source.enumerator.conditions import Between, Condition, Metadata, OneOf

_METADATA: dict[str, Metadata] = {
    "topic": "topic",
    "partition": "partition",
    "offset": "offset",
    "timestamp": "timestamp",
    "__raw_key__": "key",
}
_COLUMNS_WITHOUT_FORMAT: dict[str, Metadata] = {
    "topic": "topic",
    "partition": "partition",
    "offset": "offset",
    "timestamp": "timestamp",
    "key": "key",
}
_OF_TABLES = ("topic", "partition", "key")
_NEVER_NULL = ("topic", "partition", "offset")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class PushedFilters:
    """The filters of a query.

    Attributes:
        conditions: What they say about the records that are needed.
        remaining: Those that Spark has to evaluate, since other records may be read, too.
    """

    conditions: tuple[Condition, ...]
    remaining: tuple[Filter, ...]

    @classmethod
    def of(cls, filters: Iterable[Filter], config: SourceConfig) -> PushedFilters:
        """Translate the filters of a read, all of which its rows must fulfil."""
        columns = _columns(config)
        conditions: list[Condition] = []
        remaining: list[Filter] = []
        for pushed in filters:
            metadata = columns.get(_column(pushed))
            meaning = None if metadata is None else _translate(pushed, metadata)
            if meaning is None or not meaning.is_exact:
                remaining.append(pushed)
            if meaning is not None and meaning.condition is not None:
                conditions.append(meaning.condition)
        return cls(tuple(conditions), tuple(remaining))

    @property
    def description(self) -> str:
        """The conditions in words."""
        return " and ".join(map(str, self.conditions)) or "none"


@dataclass(frozen=True)
class _FilterMeaning:
    """The meaning of a filter.

    Attributes:
        condition: What records fulfil that are needed; None where all may be.
        is_exact: Whether no other records are read.
    """

    condition: Condition | None
    is_exact: bool


def _columns(config: SourceConfig) -> Mapping[str, Metadata]:
    """Return the columns whose filters are of use, with their metadata."""
    of_messages = _COLUMNS_WITHOUT_FORMAT if config.value_format is None else {}
    # A name of the user hides the column that a message has by this name
    named = {**of_messages, **{column.column: _METADATA.get(column.key) for column in config.options.metadata}}
    columns = {name: metadata for name, metadata in named.items() if metadata is not None}
    if not config.options.has_primary_key:
        return columns
    # The rows of a table depend on earlier messages, but on those of the same partition only
    return {name: metadata for name, metadata in columns.items() if metadata in _OF_TABLES}


def _column(pushed: Filter) -> str:
    path: tuple[str, ...] = getattr(_without_not(pushed), "attribute", ())
    return path[0] if len(path) == 1 else ""


def _without_not(pushed: Filter) -> Filter:
    return pushed.child if isinstance(pushed, Not) else pushed


def _translate(pushed: Filter, metadata: Metadata) -> _FilterMeaning | None:
    """Return the meaning of a filter; None where it does not tell which records are needed."""
    if isinstance(pushed, IsNotNull):
        return _FilterMeaning(None, is_exact=True) if metadata in _NEVER_NULL else None
    values = _compared_values(_without_not(pushed), _CONVERSIONS[metadata])
    if isinstance(pushed, Not):
        return None if values is None or metadata not in ("topic", "partition") else _none_of(pushed, values, metadata)
    if metadata in ("topic", "partition", "key") and values is not None:
        return _FilterMeaning(OneOf(metadata, frozenset(values)), is_exact=metadata != "key")
    if metadata in ("topic", "key"):
        return None
    unit = 1_000 if metadata == "timestamp" else 1
    if values is not None:
        return _hull(values, metadata, unit)
    return _bound(pushed, metadata, unit)


def _compared_values(pushed: Filter, convert: Callable[[Any], Any]) -> list[Any] | None:
    """Return the values of which a column has one; None for a filter that is another, or has other values."""
    if isinstance(pushed, EqualTo | EqualNullSafe):
        values = [convert(pushed.value)]
    elif isinstance(pushed, In):
        # NULL is equal to nothing
        values = [convert(value) for value in pushed.value if value is not None]
    else:
        return None
    return None if not values or None in values else values


def _none_of(pushed: Not, values: list[Any], metadata: Metadata) -> _FilterMeaning | None:
    if isinstance(pushed.child, In) and None in pushed.child.value:
        # Not true of any value
        return None
    return _FilterMeaning(OneOf(metadata, frozenset(values), is_negated=True), is_exact=True)


def _hull(values: list[int], metadata: Metadata, unit: int) -> _FilterMeaning:
    """Return the bounds of values, of which an offset or a timestamp has one."""
    low, end = -(-min(values) // unit), max(values) // unit + 1
    is_exact = metadata != "timestamp" and end - low == len(set(values))
    return _FilterMeaning(Between(metadata, low, end), is_exact)


def _bound(pushed: Filter, metadata: Metadata, unit: int) -> _FilterMeaning | None:
    """Return the bound that a comparison gives; timestamps have whole milliseconds, and filters microseconds."""
    if not isinstance(pushed, GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual):
        return None
    value = _CONVERSIONS[metadata](pushed.value)
    if value is None:
        return None
    next_above, at_or_above = value // unit + 1, -(-value // unit)
    bounds: dict[type[Filter], Between] = {
        GreaterThan: Between(metadata, low=next_above),
        GreaterThanOrEqual: Between(metadata, low=at_or_above),
        LessThan: Between(metadata, end=at_or_above),
        LessThanOrEqual: Between(metadata, end=next_above),
    }
    return _FilterMeaning(bounds[type(pushed)], is_exact=metadata != "timestamp")


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _bytes(value: Any) -> bytes | None:
    if isinstance(value, str):
        return value.encode()
    return bytes(value) if isinstance(value, bytes | bytearray) else None


def _micros(value: Any) -> int | None:
    """Return a time in microseconds since 1970 UTC; a column of BIGINT has milliseconds."""
    if isinstance(value, int):
        return value * 1_000
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH) // _MICROSECOND
    return None


_CONVERSIONS: dict[Metadata, Callable[[Any], Any]] = {
    "topic": _text,
    "partition": _whole,
    "offset": _whole,
    "timestamp": _micros,
    "key": _bytes,
}
