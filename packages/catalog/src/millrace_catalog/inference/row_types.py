"""The columns that an object has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace_catalog.inference.json_types import DEEPEST, ValueTypes
from millrace_catalog.inference.observation import Path
from millrace_catalog.inference.options import FormatOptions, Nesting
from millrace_catalog.types import NULL, DataType, least_common_type


class RowTypes:
    """Tells the columns of objects.

    Args:
        options: The options of the format.
        nesting: What nested objects become.
        fixed: Types of columns that are not inferred.
    """

    def __init__(
        self, options: FormatOptions, nesting: Nesting = "string", fixed: Mapping[str, DataType] | None = None
    ) -> None:
        self._values = ValueTypes(
            iso=options.iso, primitive_as_string=options.primitive_as_string, with_rows=nesting == "struct"
        )
        self._fixed = fixed or {}
        self._flattens = nesting == "flatten"

    def of(self, row: Mapping[str, Any]) -> tuple[dict[str, DataType], frozenset[Path]]:
        """The types of an object's columns, and where they stand in it if nested fields become columns."""
        if self._flattens:
            return self._flattened(row)
        type_of, fixed = self._values.of, self._fixed
        if fixed:
            return {name: fixed.get(name) or type_of(value) for name, value in row.items()}, frozenset()
        return {name: type_of(value) for name, value in row.items()}, frozenset()

    def _flattened(self, row: Mapping[str, Any]) -> tuple[dict[str, DataType], frozenset[Path]]:
        columns: dict[str, DataType] = {}
        paths: list[Path] = []
        self._add(row, (), columns, paths)
        return columns, frozenset(paths)

    def _add(self, row: Mapping[str, Any], outer: Path, columns: dict[str, DataType], paths: list[Path]) -> None:
        for field, value in row.items():
            path = (*outer, field)
            name = ".".join(path)
            is_object = isinstance(value, dict) and name not in self._fixed and len(path) <= DEEPEST
            if is_object and value:
                self._add(value, path, columns, paths)
                continue
            # an object without fields says nothing of its columns
            type_ = self._fixed.get(name) or (NULL if is_object else self._values.of(value, len(path) - 1))
            columns[name] = least_common_type(columns[name], type_) if name in columns else type_
            paths.append(path)
