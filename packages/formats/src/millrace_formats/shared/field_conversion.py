"""Convert the fields of a message: NULL where it is allowed, and errors that name the field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from millrace.errors import MalformedMessageError, MissingValueError


def convert_elements(convert: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """Convert the elements of an array, adding the index to the path of errors."""
    elements = []
    for index, value in enumerate(values):
        try:
            elements.append(convert(value))
        except MalformedMessageError as error:
            raise error.within(f"[{index}]") from None
    return elements


def keep_nullability(convert: Callable[[Any], Any], name: str, *, ignore: bool, nullable: bool) -> Callable[[Any], Any]:
    """Wrap a field's conversion so that it keeps the field's nullability.

    Args:
        convert: Converts a value other than null; raises MalformedMessageError.
        name: The field, added to the path of errors.
        ignore: Whether a value that cannot be converted becomes NULL.
        nullable: Whether the field may be NULL; if not, a NULL is an error even when others are ignored.
    """

    def convert_or_null(value: Any) -> Any:
        try:
            result = None if value is None else convert(value)
        except MissingValueError as error:
            raise error.within(name) from None
        except MalformedMessageError as error:
            if not ignore:
                raise error.within(name) from None
            result = None
        if result is None and not nullable:
            raise MissingValueError(name)
        return result

    return convert_or_null
