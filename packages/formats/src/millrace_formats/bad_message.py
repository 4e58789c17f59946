"""Why a message cannot be decoded, and which of its fields is to blame."""

from __future__ import annotations


class MalformedMessageError(Exception):
    """A message that cannot be decoded, with the path of the field to blame."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def within(self, step: str) -> MalformedMessageError:
        """The same, seen from one level further out."""
        joint = "." if step and self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{joint}{self.path}"
        return self

    def __str__(self) -> str:
        return f"field {self.path}: {self.reason}" if self.path else self.reason


class MissingValueError(MalformedMessageError):
    """A NULL in a NOT NULL column, which ignoring parse errors cannot cure."""

    def __init__(self, path: str) -> None:
        super().__init__("NULL in a NOT NULL column", path)
