"""User-defined functions of a pipeline, as its file has them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from millrace.options import option
from millrace_catalog.types import DataType, parse_type
from millrace_cdc.definitions.rules import PlacedRule

FUNCTIONS = "user-defined-function"
"""The key of the section ``pipeline`` that holds them."""

_WORDS = (
    *("AND", "AS", "BETWEEN", "BY", "CASE", "CAST", "ELSE", "END", "ESCAPE", "EXTRACT", "FROM", "IF", "IN", "INTERVAL"),
    *("IS", "LIKE", "NOT", "NULL", "OR", "OVERLAY", "POSITION", "SELECT", "SIMILAR", "SUBSTRING", "THEN", "TO", "TRIM"),
    *("TRY_CAST", "WHEN", "WHERE"),
)


def parse_function_name(text: str) -> str:
    """Check the name of a function.

    Raises:
        ValueError: It is none, or a word of SQL.
    """
    if not re.fullmatch(r"[^\W\d]\w*", text) or text.upper() in _WORDS:
        raise ValueError("expected a name of letters, digits and '_' that is no word of SQL")
    return text


@dataclass(frozen=True, kw_only=True)
class FunctionDefinition(PlacedRule):
    """A function of ``user-defined-function``."""

    name: str = option("name", parse=parse_function_name, doc="The name that expressions call, in any case.")
    classpath: str | None = option(
        "classpath",
        default=None,
        doc="The function in Python: module.function, or file.py:function with the file next to the pipeline's.",
    )
    code: str | None = option(
        "python-code", default=None, doc="Python that defines the function eval; instead of classpath."
    )
    return_type: DataType | None = option(
        "return-type",
        default=None,
        parse=parse_type,
        doc="The type of its results, such as DECIMAL(10, 2). By default as annotated in Python. (Addition.)",
    )
    options: tuple[tuple[str, str], ...] = option(
        "options.*", default=(), doc="Values of the function's parameters after '*', by name."
    )
    folder: Path = field(default=Path(), compare=False)
    """The folder of the pipeline's file, beside which files of classpath are."""
