"""Keys and values that are texts, with PyFlink's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class SimpleStringSchema:
    """A key or value that is the text of one STRING column: the format ``raw``, named like PyFlink's class.

    A source reads the text of values into the column `COLUMN`, which stands for PyFlink's ``str`` elements. A sink
    writes the only column of its rows or, beside columns of the key, the only other one.

    Args:
        charset: The character set.
    """

    COLUMN: ClassVar[str] = "value"
    FORMAT: ClassVar[str] = "raw"

    charset: str = "UTF-8"

    @property
    def options(self) -> dict[str, object]:
        """The options of the format, by the names that it declares."""
        return {} if self == SimpleStringSchema() else {"charset": self.charset}


SIMPLE_STRING_COLUMNS = f"{SimpleStringSchema.COLUMN} STRING"
"""The columns that `SimpleStringSchema` reads, for the option ``columns``."""
