"""Errors of messages that cannot be decoded, with the path of the field."""

from __future__ import annotations


class MalformedMessageError(Exception):
    """A message that cannot be decoded.

    Args:
        reason: Why, without the field.
        path: The path of the field that is wrong, such as ``address.lines[2]``.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def within(self, step: str) -> MalformedMessageError:
        """Prepend a step to the path, and return the error."""
        joint = "." if step and self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{joint}{self.path}"
        return self

    def __str__(self) -> str:
        return f"field {self.path}: {self.reason}" if self.path else self.reason


class MissingValueError(MalformedMessageError):
    """A NULL in a NOT NULL column, an error even where parse errors are ignored."""

    def __init__(self, path: str) -> None:
        super().__init__("NULL in a NOT NULL column", path)
