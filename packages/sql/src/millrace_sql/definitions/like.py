"""``CREATE TABLE ... LIKE``: merge a definition with that of another table, as the reference does.

The rules are those of Flink's documentation, "CREATE TABLE": ``LIKE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeVar

from millrace_catalog.types.identifiers import quote_name
from millrace_sql.definitions.model import TableDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import ScriptPosition
from millrace_sql.statements import Column, ComputedColumn, Like, LikeFeature, MetadataColumn, PhysicalColumn

Strategy = Literal["INCLUDING", "EXCLUDING", "OVERWRITING"]
T = TypeVar("T")

_DEFAULTS: dict[LikeFeature, Strategy] = {
    "CONSTRAINTS": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "OPTIONS": "OVERWRITING",
    "PARTITIONS": "INCLUDING",
    "WATERMARKS": "INCLUDING",
}
_NOT_OVERWRITTEN = ("ALL", "CONSTRAINTS", "PARTITIONS")


def merge_like(table: TableDefinition, base: TableDefinition, like: Like, position: ScriptPosition) -> TableDefinition:
    """Return a definition with what LIKE takes from the base table.

    Args:
        table: The table as its statement declares it.
        base: The table of LIKE.
        like: LIKE, with its options.
        position: The statement's place.

    Raises:
        SqlError: Both tables define the same thing, and the strategy is not OVERWRITING; or the options contradict
            each other.
    """
    strategies = _strategies(like, position)
    merge = _Merge(shown(base.identifier), strategies, position)
    return replace(
        table,
        columns=merge.columns(table.columns, base.columns),
        primary_key=merge.one("CONSTRAINTS", "a primary key", table.primary_key, base.primary_key),
        watermark=merge.one("WATERMARKS", "a watermark", table.watermark, base.watermark),
        partition_keys=merge.one("PARTITIONS", "partitions", table.partition_keys, base.partition_keys),
        options=merge.options(table.options, base.options),
    )


def _strategies(like: Like, position: ScriptPosition) -> dict[LikeFeature, Strategy]:
    strategies: dict[LikeFeature, Strategy] = {}
    for strategy, feature in like.features:
        if strategy == "OVERWRITING" and feature in _NOT_OVERWRITTEN:
            raise SqlError(f"LIKE: {feature} cannot be OVERWRITING; write INCLUDING or EXCLUDING", position)
        if feature in strategies:
            raise SqlError(f"LIKE: {feature} is given twice", position)
        strategies[feature] = strategy
    everything = strategies.pop("ALL", None)
    defaults = _DEFAULTS if everything is None else dict.fromkeys(_DEFAULTS, everything)
    return {**defaults, **strategies}


class _Merge:
    def __init__(self, base: str, strategies: Mapping[LikeFeature, Strategy], position: ScriptPosition) -> None:
        self._base = base
        self._strategies = strategies
        self._position = position

    def one(self, feature: LikeFeature, what: str, own: T, base: T) -> T:
        strategy = self._strategies[feature]
        if not base or strategy == "EXCLUDING":
            return own
        if not own:
            return base
        if strategy == "OVERWRITING":
            return own
        raise self._defined_twice(what, feature)

    def options(self, own: Mapping[str, str], base: Mapping[str, str]) -> Mapping[str, str]:
        strategy = self._strategies["OPTIONS"]
        if strategy == "EXCLUDING":
            return own
        for name in own:
            if strategy == "INCLUDING" and name in base:
                raise self._defined_twice(f"option {name!r}", "OPTIONS")
        return {**base, **own}

    def columns(self, own: tuple[Column, ...], base: tuple[Column, ...]) -> tuple[Column, ...]:
        merged = {column.name: column for column in base if self._takes(column)}
        for column in own:
            before = merged.get(column.name)
            if before is not None:
                self._check_overwritten(before, column)
            # A column that is overwritten keeps its place
            merged[column.name] = column
        return tuple(merged.values())

    def _takes(self, column: Column) -> bool:
        feature = _feature_of(column)
        return feature is None or self._strategies[feature] != "EXCLUDING"

    def _check_overwritten(self, before: Column, column: Column) -> None:
        feature = _feature_of(before)
        if type(before) is not type(column) or feature is None:
            raise SqlError(
                f"LIKE: the base table {self._base} has a column {quote_name(column.name)} already, which cannot be "
                f"replaced: give it another name",
                column.position,
            )
        if self._strategies[feature] != "OVERWRITING":
            raise self._defined_twice(f"column {quote_name(column.name)}", feature)

    def _defined_twice(self, what: str, feature: LikeFeature) -> SqlError:
        overwrite = "" if feature in _NOT_OVERWRITTEN else f"OVERWRITING {feature} or "
        return SqlError(
            f"LIKE: the base table {self._base} has {what} already; leave it out, or add "
            f"({overwrite}EXCLUDING {feature})",
            self._position,
        )


def _feature_of(column: Column) -> LikeFeature | None:
    if isinstance(column, PhysicalColumn):
        return None
    features: dict[type, LikeFeature] = {ComputedColumn: "GENERATED", MetadataColumn: "METADATA"}
    return features[type(column)]
