"""Names, texts and options of a script, with the places where they begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace.options.secrets import masked_value


@dataclass(frozen=True, order=True)
class ScriptPosition:
    """A place in a script; both numbers count from 1."""

    line: int
    column: int


NOWHERE = ScriptPosition(0, 0)
"""The position of what comes from no script."""


@dataclass(frozen=True)
class Identifier:
    """A name of one to three parts: ``table``, ``database.table`` or ``catalog.database.table``."""

    parts: tuple[str, ...]
    position: ScriptPosition = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class SqlText:
    """An expression or a query, as it is written, without comments at its ends."""

    text: str
    position: ScriptPosition = field(default=NOWHERE, compare=False)


class Options(dict[str, str]):
    """Options by their keys, in the order of the script; their ``repr`` never shows a secret.

    Args:
        options: The options.
        positions: The places of their keys.
    """

    def __init__(
        self, options: Mapping[str, str] | None = None, positions: Mapping[str, ScriptPosition] | None = None
    ) -> None:
        super().__init__(options or {})
        self.positions = positions or {}

    def __repr__(self) -> str:
        return repr({key: masked_value(key, value) for key, value in self.items()})
