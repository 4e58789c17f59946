"""Take the options of a read or a write out of a program in Python, which is parsed and never executed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import dedent

from millrace.errors import OptionsError
from millrace.options.secrets import is_secret
from millrace_cli.converting.dialect import OptionSet, Side
from millrace_cli.converting.python_constants import constants_of

_CALL = re.compile(r"\.\s*(format|options?)\s*\(")
_SIDES = {"read": Side.READ, "readStream": Side.READ, "write": Side.WRITE, "writeStream": Side.WRITE}
_ELLIPSIS = "..."


def is_python(text: str) -> bool:
    """Return whether a text calls ``format``, ``option`` or ``options``."""
    return _CALL.search(text) is not None


def parse_python(text: str, formats: tuple[str, ...]) -> OptionSet:
    """Return the options of the one read or write in a text by some formats.

    Values are texts, numbers, booleans, and names that are assigned such a value, and bound nowhere else in the text.
    The calls may begin anywhere in a chain, such as ``.option("subscribe", "orders")``.

    Args:
        text: The program, or a part of it.
        formats: The formats, such as ``kafka``; a chain without a format is taken, too.

    Raises:
        OptionsError: It is not Python, or there are several or none.
    """
    tree = _parse(text)
    constants = constants_of(tree)
    chains = [chain for chain in _chains(tree, constants) if chain.format in (*formats, None) and chain.has_options]
    if len(chains) != 1:
        where = f", in lines {', '.join(str(chain.line) for chain in chains)}" if chains else ""
        wanted = " or ".join(map(repr, formats))
        raise OptionsError(
            "options", (f"expected one read or write of format {wanted}; there are {len(chains)}{where}",)
        )
    (chain,) = chains
    return OptionSet(chain.options, chain.side, chain.unreadable)


@dataclass
class _Chain:
    """The calls of one read or write.

    Attributes:
        line: The line in which it begins, from 1.
        format: Its format, where it has one.
        side: Its direction, where it tells.
        options: Its options.
        unreadable: Sentences on options whose values a run would tell, by name.
    """

    line: int
    format: str | None = None
    side: Side | None = None
    options: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def has_options(self) -> bool:
        return bool(self.options or self.unreadable)


def _parse(text: str) -> ast.Module:
    code = dedent(text).strip()
    attempts = (code, f"(\n{code}\n)") if not code.startswith(".") else (f"(spark\n{code}\n)",)
    for attempt in attempts:
        try:
            return ast.parse(attempt)
        except (SyntaxError, ValueError) as error:
            problem = error
    reason = problem.msg if isinstance(problem, SyntaxError) else "it holds a null character"
    raise OptionsError("options", (f"the text is not valid Python: {reason}",))


def _chains(tree: ast.Module, constants: Mapping[str, ast.expr]) -> Iterator[_Chain]:
    """Yield the chains of calls, each once: a call that another one is made on belongs to its chain."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    inner = {id(below) for call in calls for below in _below(call)}
    for call in calls:
        if id(call) not in inner:
            chain = _Chain(call.lineno)
            for link in reversed([call, *_below(call)]):
                if isinstance(link, ast.Attribute) and link.attr in _SIDES:
                    # What is read may be written in the same chain
                    yield chain
                    chain = _Chain(link.lineno, side=_SIDES[link.attr])
                _add(chain, link, constants)
            yield chain


def _below(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a call or an attribute is of, outermost first."""
    while True:
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Attribute):
            node = node.value
        else:
            return
        yield node


def _add(chain: _Chain, link: ast.expr, constants: Mapping[str, ast.expr]) -> None:
    if not isinstance(link, ast.Call) or not isinstance(link.func, ast.Attribute):
        return
    if link.func.attr == "format" and link.args:
        # An expression may be any format, so that it is none of those that are asked for
        chain.format = _value(link.args[0], constants) or ""
    elif link.func.attr == "option":
        arguments = {keyword.arg: keyword.value for keyword in link.keywords}
        key = link.args[0] if link.args else arguments.get("key")
        value = link.args[1] if len(link.args) > 1 else arguments.get("value")
        _set(chain, key, value, constants)
    elif link.func.attr == "options":
        for keyword in link.keywords:
            _set_all(chain, keyword, constants)


def _set_all(chain: _Chain, keyword: ast.keyword, constants: Mapping[str, ast.expr]) -> None:
    if keyword.arg is not None:
        _set(chain, ast.Constant(keyword.arg), keyword.value, constants)
        return
    mapping = _resolved(keyword.value, constants)
    if not isinstance(mapping, ast.Dict):
        text = _outline(keyword.value)
        chain.unreadable[f"**{text}"] = f"only a run tells the options of {text}"
        return
    # A dictionary of a part of a program may have its own former value in it
    others = {name: other for name, other in constants.items() if other is not mapping}
    for key, value in zip(mapping.keys, mapping.values, strict=True):
        if key is None:
            _set_all(chain, ast.keyword(None, value), others)
        else:
            _set(chain, key, value, constants)


def _set(chain: _Chain, key: ast.expr | None, value: ast.expr | None, constants: Mapping[str, ast.expr]) -> None:
    if key is None or value is None:
        return
    name, text = _value(key, constants), _value(value, constants)
    if name is None:
        shown = _outline(key)
        chain.unreadable[shown] = f"only a run tells the name of the option {shown}"
    elif text is None:
        chain.options.pop(name, None)
        outline = _outline(value)
        shown = "" if is_secret(name) or outline == _ELLIPSIS else f", {outline}"
        chain.unreadable[name] = f"only a run tells its value{shown}"
    else:
        chain.unreadable.pop(name, None)
        chain.options[name] = text


def _outline(node: ast.expr) -> str:
    """Return the names in an expression: its constants may be secrets."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_outline(node.value)}.{node.attr}"
    return f"{_outline(node.func)}({_ELLIPSIS})" if isinstance(node, ast.Call) else _ELLIPSIS


def _resolved(node: ast.expr, constants: Mapping[str, ast.expr]) -> ast.expr:
    return constants.get(node.id, node) if isinstance(node, ast.Name) else node


def _value(node: ast.expr, constants: Mapping[str, ast.expr]) -> str | None:
    """Return a constant as PySpark makes a text of it; None for another expression."""
    constant = _resolved(node, constants)
    try:
        value = ast.literal_eval(constant)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None
