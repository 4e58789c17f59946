"""Packages whose public names are imported when they are first used."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import millrace

SOURCES = sorted((Path(__file__).parents[2] / "packages").glob("*/src/*"))
LAZY = sorted(file for path in SOURCES for file in path.rglob("__init__.py") if "lazy_imports(" in file.read_text())


def name_of(file: Path) -> str:
    source = next(path for path in SOURCES if file.is_relative_to(path))
    return ".".join(file.parent.relative_to(source.parent).parts)


def for_type_checkers(tree: ast.Module) -> dict[str, str]:
    """The module of each of millrace's names that is imported under TYPE_CHECKING."""
    block = next(node for node in tree.body if isinstance(node, ast.If))
    own = "millrace"
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom) and str(node.module).startswith(own)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def registered(tree: ast.Module) -> dict[str, str]:
    """The module of each name that is given to lazy_imports."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    call = next(each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "lazy_imports")
    return {name: module for module, names in ast.literal_eval(call.args[1]).items() for name in names}


@pytest.mark.parametrize("file", LAZY, ids=name_of)
def test_type_checkers_and_users_find_the_same_names(file: Path) -> None:
    tree, package = ast.parse(file.read_text()), importlib.import_module(name_of(file))
    assert registered(tree) == for_type_checkers(tree)
    assert set(package.__all__) - {"__version__"} == registered(tree).keys()
    assert set(package.__all__) <= {*dir(package), "__version__"}
    for name, module in registered(tree).items():
        assert getattr(package, name) is getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("file", LAZY, ids=name_of)
def test_an_unknown_name_is_an_attribute_error_that_lists_the_others(file: Path) -> None:
    package = importlib.import_module(name_of(file))
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'; it has .*, "):
        _ = package.no_such_name


def test_several_packages_are_lazy() -> None:
    assert len(LAZY) >= 4


def test_help_lists_all_of_the_api_first() -> None:
    assert [name for name in millrace.__all__ if name != "__version__" and f"`{name}`" not in millrace.__doc__] == []
