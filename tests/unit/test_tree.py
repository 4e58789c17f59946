"""The shape of the source tree: import circles, long files and functions, first words of docstrings, type checks."""

from __future__ import annotations

import ast
import graphlib
import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "packages").glob("*/src/*"))
PACKAGES = [path.name for path in SOURCES]
FILES = [file for path in SOURCES for file in sorted(path.rglob("*.py"))]
OTHER_FILES = [file for name in ("bench", "docs", "examples", "tests") for file in sorted((ROOT / name).rglob("*.py"))]

GENERATED = ROOT / "packages/core/src/millrace/typed_options.py"
"""The module that nobody writes or reads, but editors."""

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_itself_through_others(package: str) -> None:
    # Imports inside functions count, and those for type checkers, which a reader follows, too
    graph = grimp.build_graph(package)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_file_is_too_long() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in FILES if file != GENERATED}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_no_function_needs_scrolling() -> None:
    functions = (
        (f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None
    )
    assert {name: lines for name, lines in functions if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_a_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name for file in FILES for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    # A string that stands by itself documents a module, a class, a function or the constant before it
    docstrings = (
        (f"{file.relative_to(ROOT)}:{node.lineno}", node.value.value)
        for file in (*FILES, *OTHER_FILES)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    questions = ("What ", "How ", "Whether ", "Where ", "Those ", "Which ", "When ", "Who ")
    assert [place for place, text in docstrings if text.startswith(questions)] == []


def test_an_error_that_the_type_check_ignores_has_a_reason() -> None:
    # mypy does not check the other files, so that they have nothing to ignore
    ignored = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in (*FILES, *OTHER_FILES)
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        if re.search(r"# type: ignore(?!\[[a-z-]+\] +# \w)", line) or ("# type: ignore" in line and file in OTHER_FILES)
    ]
    assert [place for place in ignored if not place.startswith("tests/unit/test_tree.py")] == []
