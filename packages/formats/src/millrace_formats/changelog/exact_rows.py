"""Convert the rows of a parsed message, by json's exact conversions."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.json.exact_reader import field_converter, scalar_conversion
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.parser import shown

Row = tuple[Any, ...]

to_text = scalar_conversion(pa.string(), False)
"""Convert a JSON value that is not null to STRING, as json does."""


class ExactRows:
    """Convert the rows of a change.

    Args:
        schema: The columns.
        options: The options of json.
    """

    def __init__(self, schema: pa.Schema, options: JsonOptions) -> None:
        self._fields = [(field.name, field_converter(field, options)) for field in schema]
        self.names = frozenset(schema.names)
        self._ignore = options.nulls_fields

    def whole(self, value: Any, path: str) -> Row | None:
        """Convert a row; None when it is null, and NULL for fields that are absent.

        Args:
            value: An object, or null.
            path: Its path in the message.

        Raises:
            MalformedMessageError: The value is something else, or a field cannot be converted.
        """
        if not self._is_row(value, path):
            return None
        try:
            return tuple(convert(value.get(name)) for name, convert in self._fields)
        except MalformedMessageError as error:
            raise error.within(path) from None

    def overlaid(self, value: Any, row: Row, path: str) -> Row | None:
        """Convert the fields of an object, and take the others from another row; otherwise as `whole`."""
        if not self._is_row(value, path):
            return None
        try:
            return tuple(
                convert(value[name]) if name in value else same
                for (name, convert), same in zip(self._fields, row, strict=True)
            )
        except MalformedMessageError as error:
            raise error.within(path) from None

    def _is_row(self, value: Any, path: str) -> bool:
        if value is not None and not isinstance(value, dict) and not self._ignore:
            raise MalformedMessageError(f"expected an object, found {shown(value)}", path)
        return isinstance(value, dict)
