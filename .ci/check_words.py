"""Check the prose of all pages against the table of words in words.toml, and how docstrings begin."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text())
PAGES = ("*.md", "docs/**/*.md", "packages/*/README.md", "examples/*/README.md")
MODULES = ("packages/*/src/**/*.py", "tests/**/*.py", "bench/**/*.py")

_CODE = re.compile(r"`[^`]*`")
_LEANING = re.compile(r"(What|How|Those|As|It|Its|They|He|This|These|Their)\b")
_LINK = re.compile(r"\]\([^)]*\)")


def main() -> None:
    """Print each place with a better wording; exit with 1 if there is one."""
    problems = [problem for pattern in PAGES for page in sorted(ROOT.glob(pattern)) for problem in check(page)]
    problems += [
        problem for pattern in MODULES for path in sorted(ROOT.glob(pattern)) for problem in check_module(path)
    ]
    sys.exit("\n".join(problems) or None)


def check(page: Path) -> Iterator[str]:
    """Yield the places of a page whose words are in the table."""
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        prose = "" if is_code else _LINK.sub("]", _CODE.sub("``", line))
        for pattern, better in WORDS.items():
            for found in re.finditer(pattern, prose, re.IGNORECASE):
                yield f"{page.relative_to(ROOT)}:{number}: {found[0]!r}: write {better}"


def check_module(path: Path) -> Iterator[str]:
    """Yield the docstrings of a module that do not begin with the thing that they document."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(path.read_text())):
        leaning = _LEANING.match(ast.get_docstring(node) or "") if isinstance(node, kinds) else None
        if leaning is not None:
            line = getattr(node, "lineno", 1)
            yield f"{path.relative_to(ROOT)}:{line}: a docstring begins with {leaning[0]!r}: name the thing"


if __name__ == "__main__":
    main()
