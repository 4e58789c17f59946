"""Columns of times: Spark has none unless ``spark.sql.timeType.enabled`` says so; then they are texts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace_catalog.types import STRING, ArrayType, DataType, MapType, RowType, with_nullability

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_times(spark: SparkSession) -> bool:
    """Return whether a session has columns of times."""
    return spark.conf.get("spark.sql.timeType.enabled", "false") == "true"


def times_as_strings(columns: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return columns with STRING instead of TIME."""
    return {name: _without_times(type_) for name, type_ in columns.items()}


@functools.lru_cache(maxsize=1024)
def _without_times(type_: DataType) -> DataType:
    if isinstance(type_, ArrayType):
        return ArrayType(_without_times(type_.element), type_.nullable)
    if isinstance(type_, MapType):
        return MapType(type_.key, _without_times(type_.value), type_.nullable)
    is_time = not isinstance(type_, RowType) and type_.kind == "TIME"
    return with_nullability(STRING, type_.nullable) if is_time else type_
