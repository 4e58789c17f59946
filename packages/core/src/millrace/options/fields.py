"""How names of columns are written in options."""

from __future__ import annotations

from millrace.options.names import parse_names


def parse_fields(text: str) -> tuple[str, ...]:
    """The columns of a list such as ``user_id;item_id``.

    Raises:
        ValueError: A name is empty or repeated.
    """
    return parse_names(text, "names of columns", "column")
