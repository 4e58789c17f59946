"""The tables of tests/README.md: each promise has tests, which exist and run in the tier that the table names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS / "README.md").read_text("utf-8")
TIERS = ("tox", ".ci/run", "nightly", "kerberos", "peers", "release", "site", "soak")
MARKED_QUICK = {"faults": "smoke", "deployments": "smoke"}
"""Folders whose tests run at night unless they have this mark."""


class Promise(NamedTuple):
    """A row: what users may rely on, the first tier that proves it, and the tests that do."""

    text: str
    tier: str
    tests: tuple[str, ...]


class Definition(NamedTuple):
    """A test or a class of tests."""

    name: str
    marks: frozenset[str]
    some_marks: frozenset[str]
    """Also those that some of its parameters have."""


def promises() -> list[Promise]:
    rows = re.findall(r"^\| (.+?) \| `(.+?)` \| (.+?) \|$", PAGE, re.MULTILINE)
    return [Promise(text, tier, tuple(re.findall(r"`([^`]+)`", tests))) for text, tier, tests in rows]


PROMISES = promises()


@cache
def module(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def marks_in(node: ast.AST) -> frozenset[str]:
    """Return the marks that an expression names: ``pytest.mark.nightly``, by itself or among others."""
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    marks = {each.attr for each in attributes if isinstance(each.value, ast.Attribute) and each.value.attr == "mark"}
    return frozenset(marks)


def marks_of_module(file: Path) -> frozenset[str]:
    assigned = (each for each in module(file).body if isinstance(each, ast.Assign))
    own = [each.value for each in assigned if [ast.unparse(target) for target in each.targets] == ["pytestmark"]]
    return frozenset().union(*map(marks_in, own))


def definitions(file: Path) -> dict[str, Definition]:
    """Return the tests and classes of a file, by their names behind it; a test has the marks of its class and file."""
    return {each.name: each for each in _definitions(module(file).body, "", marks_of_module(file))}


def _definitions(body: list[ast.stmt], prefix: str, inherited: frozenset[str]) -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not node.name.lower().startswith("test"):
            continue
        parametrized = [each for each in node.decorator_list if "parametrize" in marks_in(each)]
        whole = [marks_in(each) for each in node.decorator_list if each not in parametrized]
        marks = inherited.union(*whole)
        name = f"{prefix}{node.name}"
        yield Definition(name, marks, marks.union(*map(marks_in, parametrized)))
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{name}::", marks)


def tiers_of(test: str, folder: Path = TESTS) -> set[str]:
    """Return the tiers of a file, a class or a test: several if its tests run in several.

    Raises:
        AssertionError: There is none of this name.
    """
    file, _, name = test.partition("::")
    assert (folder / file).is_file(), f"there is no file {file}"
    found = definitions(folder / file)
    assert found, f"{file} has no tests"
    if name:
        assert name in found, f"{file} has no {name}"
    named = {key: each for key, each in found.items() if not name or key == name or key.startswith(f"{name}::")}
    # A class that inherits its tests has none of its own
    tests = [each for key, each in named.items() if not any(other.startswith(f"{key}::") for other in named)]
    return {tier_of(file, each) for each in tests}


def tier_of(file: str, definition: Definition) -> str:
    """Return the first tier that runs a test, or some of its parameters."""
    folder = file.split("/")[0]
    if folder in ("kerberos", "peers", "site", "soak"):
        return folder
    if folder == "released":
        return "release"
    if folder == "installed":
        return ".ci/run"
    quick = MARKED_QUICK.get(folder)
    if quick is not None:
        return ".ci/run" if quick in definition.some_marks else "nightly"
    if "spark_connector" in definition.marks:
        # It is published for the oldest PySpark, which `tox` does not use
        return "nightly" if "nightly" in definition.marks else ".ci/run"
    return "nightly" if "nightly" in definition.marks else "tox"


def test_the_page_has_tables() -> None:
    headings = re.findall(r"^## ", PAGE, re.MULTILINE)
    rules = re.findall(r"^\|---\|---\|---\|$", PAGE, re.MULTILINE)
    assert len(headings) == len(rules) > 0
    # Each line of a table is a row that is read, but for its heading and the rule below it
    lines = re.findall(r"^\|.*$", PAGE, re.MULTILINE)
    assert len(PROMISES) == len(lines) - 2 * len(rules)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda each: each.text[:60])
def test_a_promise_is_proven_in_its_tier(promise: Promise) -> None:
    assert promise.tier in TIERS
    assert promise.tests
    for test in promise.tests:
        assert tiers_of(test) == {promise.tier}, f"{test} runs in {tiers_of(test)}"


def test_no_promise_is_made_twice() -> None:
    texts = [each.text for each in PROMISES]
    assert [text for text in texts if texts.count(text) > 1] == []


MODULE = """
import pytest

@pytest.mark.nightly
def test_late(): ...

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.nightly)])
@pytest.mark.usefixtures("spark")
def test_some(n): ...

@pytest.mark.nightly
class TestLate:
    def test_in_a_class(self): ...

class TestBoth:
    def test_quick(self): ...

    @pytest.mark.parametrize("n", [pytest.param(2, marks=[pytest.mark.smoke, pytest.mark.timeout(9)])])
    def test_smoke(self, n): ...
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], None]:
    """Write a file of tests into a folder of their own."""

    def write(file: str, content: str) -> None:
        path = tmp_path / file
        path.parent.mkdir()
        path.write_text(content)

    return write


@pytest.mark.parametrize(
    ("test", "tiers"),
    [
        ("integration/test_it.py::test_late", {"nightly"}),
        ("integration/test_it.py::test_some", {"tox"}),
        ("integration/test_it.py::TestLate::test_in_a_class", {"nightly"}),
        ("integration/test_it.py::TestLate", {"nightly"}),
        ("integration/test_it.py::TestBoth", {"tox"}),
        ("integration/test_it.py", {"tox", "nightly"}),
        ("faults/test_it.py::TestBoth", {"nightly", ".ci/run"}),
        ("faults/test_it.py::TestBoth::test_smoke", {".ci/run"}),
        ("soak/test_it.py::test_late", {"soak"}),
    ],
)
def test_tiers_are_read_from_marks(
    test: str, tiers: set[str], write: Callable[[str, str], None], tmp_path: Path
) -> None:
    write(test.partition("::")[0], MODULE)

    assert tiers_of(test, tmp_path) == tiers


@pytest.mark.parametrize("mark", ["pytest.mark.nightly", '[pytest.mark.skipif("x"), pytest.mark.nightly]'])
def test_a_mark_of_a_module_is_that_of_its_tests(mark: str, write: Callable[[str, str], None], tmp_path: Path) -> None:
    write("integration/test_it.py", f"import pytest\n\npytestmark = {mark}\n\ndef test_it(): ...\n")

    assert tiers_of("integration/test_it.py", tmp_path) == {"nightly"}
    assert tiers_of("integration/test_it.py::test_it", tmp_path) == {"nightly"}


def test_what_is_not_there_is_told(write: Callable[[str, str], None], tmp_path: Path) -> None:
    write("integration/test_it.py", MODULE)

    with pytest.raises(AssertionError, match=r"integration/test_it\.py has no test_another"):
        tiers_of("integration/test_it.py::test_another", tmp_path)
    with pytest.raises(AssertionError, match="there is no file integration/test_nowhere"):
        tiers_of("integration/test_nowhere.py", tmp_path)
