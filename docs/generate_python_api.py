"""Write docs/python-api.md: the public names of millrace, from their docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import millrace

PAGE = Path(__file__).with_name("python-api.md")

HEAD = """# Python API

Generated from docstrings by `tox -e docs`; `help(millrace)` shows the same. These names are imported from `millrace`.
"""

_ROLE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def render() -> str:
    """Return the page's text."""
    names = [name for name in millrace.__all__ if not name.startswith("__")]
    functions = [name for name in names if inspect.isfunction(getattr(millrace, name))]
    classes = [name for name in names if name not in functions]
    sections = [text for name in sorted(functions) for text in _function(name, getattr(millrace, name))]
    sections += [text for name in sorted(classes) for text in _class(name, getattr(millrace, name))]
    return "\n".join([HEAD, *sections])


def _function(name: str, function: Callable[..., object]) -> Iterator[str]:
    signature = re.sub(r"'([^']*)'", r"\1", str(inspect.signature(function)))
    yield f"## `{name}`\n\n```\n{name}{signature}\n```\n\n{_prose(function)}\n"


def _class(name: str, kind: type) -> Iterator[str]:
    yield f"## class `{name}`\n\n{_prose(kind)}\n"
    for member, value in vars(kind).items():
        function = getattr(value, "__func__", value)
        if member.startswith("_") or not inspect.isfunction(function) or dataclasses.is_dataclass(function):
            continue
        yield f"- `{name}.{member}`: {_prose(function).partition(chr(10))[0]}"
    yield ""


def _prose(documented: object) -> str:
    """Return a docstring as Markdown: sections become lists."""
    lines: list[str] = []
    is_entry = False
    for line in (inspect.getdoc(documented) or "").splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises):", line):
            lines += [f"**{line}**", ""]
            is_entry = True
        elif is_entry and re.match(r"    \S", line):
            lines.append(f"- {line.strip()}")
        elif is_entry and line.startswith("        "):
            lines[-1] += f" {line.strip()}"
        else:
            is_entry = is_entry and not line
            lines.append(line)
    text = "\n".join(lines).replace("``", "`")
    return _ROLE.sub(r"`\1`", text)
