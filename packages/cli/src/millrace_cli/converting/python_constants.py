"""Find the names in a program whose values are certain without a run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

_CHANGES = {"clear", "pop", "popitem", "setdefault", "update"}
"""Methods that change a dictionary."""


def constants_of(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what names are assigned that nothing else in the whole program binds, deletes or changes.

    Scopes are not told apart: a name that a function has, too, is left out.
    """
    bindings = Counter(name for node in ast.walk(tree) for name in _bound(node))
    last_star = max(
        (node.lineno for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and _is_star(node)), default=0
    )
    return {
        target.id: value
        for target, value in _assignments(tree)
        # What a module has is not known: it may have the name, too
        if bindings[target.id] == 1 and target.lineno > last_star
    }


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.Name, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and node.value is not None:
            yield targets[0], node.value


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds, deletes or changes, without the nodes below it."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.Global() | ast.Nonlocal():
            yield from node.names
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _CHANGES:
            yield name
        case _:
            yield from _name_as_text(node)


def _name_as_text(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _is_star(node: ast.ImportFrom) -> bool:
    return any(alias.name == "*" for alias in node.names)
