from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from millrace import errors
from millrace.errors import (
    DataLossError,
    MalformedMessageError,
    MillraceError,
    MissingValueError,
    OptionsError,
    SchemaChangedError,
    SchemaMismatchError,
    TableFailedError,
)

CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and each.__module__ == errors.__name__]


SOURCES = {path.name: path for path in (Path(__file__).parents[3] / "packages").glob("*/src/*")}
EXAMPLES: dict[type[MillraceError], MillraceError] = {
    MalformedMessageError: MalformedMessageError("what happened", "address.lines[2]"),
    MissingValueError: MissingValueError("address"),
    OptionsError: OptionsError("sink", ("what happened",)),
    SchemaMismatchError: SchemaMismatchError(3, "what happened"),
    TableFailedError: TableFailedError("shop.orders", "what happened"),
}


def drawn_tree() -> set[tuple[str, str, str]]:
    """The package, name and parent of each class that the module's docstring draws below another one."""
    drawn: set[tuple[str, str, str]] = set()
    package, path = "millrace", [""]
    for line in (errors.__doc__ or "").splitlines():
        heading = re.fullmatch(r"    (millrace\w*)", line)
        package = heading[1] if heading else package
        match = re.match(
            r"^    (?:    )?((?:[│ ]   )*(?:[├└]── )?)([A-Z]\w+(?:Error|Exception)|Exception)(?:\s|$)", line
        )
        if match:
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            if depth:
                drawn.add((package, match[2], path[depth - 1]))
    return drawn


def exceptions_of(package: str) -> Iterator[tuple[str, str, str]]:
    """The package, name and parent of each class in a package's files whose parent is an exception."""
    for file in SOURCES[package].rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                parents = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
                yield from ((package, node.name, each) for each in parents if re.search(r"(Error|Exception)$", each))


def test_the_drawn_tree_has_the_exceptions_of_all_packages() -> None:
    real = {each for package in SOURCES for each in exceptions_of(package)}
    assert drawn_tree() == real - {("millrace", "MillraceError", "Exception")}
    assert len(real) > 20


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_pickles_with_its_message(cls: type[MillraceError]) -> None:
    error = EXAMPLES.get(cls) or cls("what happened")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert "what happened" in str(error) or cls is MissingValueError


def test_a_malformed_message_names_the_field() -> None:
    error = MalformedMessageError("not a number", "[2]").within("lines").within("address")
    assert (error.path, str(error)) == ("address.lines[2]", "field address.lines[2]: not a number")
    assert str(MalformedMessageError("not a number")) == "not a number"


@pytest.mark.parametrize("problems", [("a",), ("a", "b")])
def test_an_options_error_pickles_with_all_its_problems(problems: tuple[str, ...]) -> None:
    error = OptionsError("sink", problems)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.side, copy.problems, str(copy)) == ("sink", problems, str(error))


def test_one_problem_is_told_in_one_line() -> None:
    assert str(OptionsError("sink", ("no topic",))) == "wrong sink options: no topic"


def test_several_problems_are_told_in_a_line_each() -> None:
    assert str(OptionsError("sink", ("no topic", "no luck"))) == (
        "wrong sink options, 2 problems:\n  - no topic\n  - no luck"
    )


def test_an_error_of_a_worker_is_found_in_what_spark_makes_of_it() -> None:
    text = "Traceback:\n  File x\nmillrace.errors.SchemaChangedError: the value in a-0 has a field b\n\tat scala.X"
    assert SchemaChangedError.message_in(RuntimeError(text)) == "the value in a-0 has a field b"
    assert DataLossError.message_in(RuntimeError(text)) is None
