"""Read and write options as JSON and in Java's format of properties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from millrace.errors import OptionsError


def parse_options(text: str) -> dict[str, str]:
    """Parse options that are a JSON object, or lines ``name=value`` in Java's format.

    Raises:
        OptionsError: The text is neither, or a value is nested; the message shows none of it.
    """
    return text_values(parse_json(text)) if is_json(text) else parse_properties(text)


def is_json(text: str) -> bool:
    """Return whether a text can only be a JSON object."""
    return text.lstrip().startswith("{")


def parse_json(text: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        OptionsError: It is none.
    """
    try:
        parsed = json.loads(text)
    except ValueError as error:
        # The message names the place, not the text
        raise OptionsError("options", (f"they are not valid JSON: {error}",)) from None
    if not isinstance(parsed, dict):
        raise OptionsError("options", ("expected a JSON object with a value for each name",))
    return parsed


def text_values(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options whose values are numbers or booleans as texts.

    Raises:
        OptionsError: One is null, a list or an object.
    """
    nested = [name for name, value in options.items() if value is None or isinstance(value, list | dict)]
    if nested:
        names = ", ".join(map(repr, nested))
        raise OptionsError("options", (f"expected a text, a number or a boolean for {names}",))
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}


def parse_properties(text: str) -> dict[str, str]:
    """Parse lines ``name=value`` as Java's ``Properties.load`` does.

    Raises:
        OptionsError: An escape is wrong.
    """
    import javaproperties

    try:
        return javaproperties.loads(text)
    except ValueError:
        # Without its cause, which quotes the text
        problem = "there is a \\u without four hexadecimal digits; write a literal backslash twice"
        raise OptionsError("options", (problem,)) from None


def format_json(options: Mapping[str, Any]) -> str:
    """Return options as a JSON object, which is a dictionary of Python, too."""
    return json.dumps(options, indent=2, ensure_ascii=False) + "\n"


def format_properties(options: Mapping[str, str]) -> str:
    """Return options as lines that Java's ``Properties.load`` reads."""
    import javaproperties

    return javaproperties.dumps(options, timestamp=None)
