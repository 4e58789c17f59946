"""Check that variables name a thing: none has one of the names in words.toml that could stand for anything.

Usage: ``python .ci/check_names.py [PATH...]``; without paths all sources except those of tests.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = tomllib.loads(Path(__file__).with_name("words.toml").read_text())["names"]
SOURCES = ("packages", "bench", "docs", "examples", ".ci")


def main() -> None:
    """Print each variable to rename; exit with 1 if there is one."""
    folders = [Path(path).resolve() for path in sys.argv[1:]] or [ROOT / folder for folder in SOURCES]
    files = (file for folder in folders for file in sorted(folder.rglob("*.py")))
    sys.exit("\n".join(problem for file in files for problem in check(file)) or None)


def check(file: Path) -> Iterator[str]:
    """Yield the variables and parameters of a file whose names are in the table."""
    for line, name in sorted(_bound_names(ast.parse(file.read_text()))):
        if name in NAMES:
            yield f"{file.relative_to(ROOT)}:{line}: {name!r}: name the thing: {NAMES[name]}"


def _bound_names(module: ast.Module) -> Iterator[tuple[int, str]]:
    nodes = list(ast.walk(module))
    # Fields are read behind the name of what has them
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    fields = {field.target for owner in classes for field in owner.body if isinstance(field, ast.AnnAssign)}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.lineno, node.name


if __name__ == "__main__":
    main()
