"""YAML as a tree in which every key and every value knows its place.

Values stay the text that is written, as in the reference: ``yes`` is the text yes, and ``010`` has three digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import yaml

from millrace_cdc.errors import DocumentPosition, PipelineError, Problem

_OWN_TAG = "tag:yaml.org,2002:"
_MOST_LEVELS = 50


@dataclass(frozen=True)
class Text:
    """A key or a value.

    Attributes:
        text: Its text.
        position: Its beginning.
        is_null: Whether nothing is written, ``null`` or ``~``.
        source: As it stands in the file, quotes included; empty where it is not known or was changed.
        is_secret: Whether a part of it is a secret, so that it must not be shown.
    """

    text: str
    position: DocumentPosition
    is_null: bool = False
    source: str = field(default="", repr=False)
    is_secret: bool = False

    def position_of(self, offset: int) -> DocumentPosition:
        """Return the place of a character of the text; that of the whole where the file writes it otherwise."""
        if offset == 0:
            return self.position
        opening = 1 if self.source[:1] in {"'", '"'} else 0
        if self.source[opening : len(self.source) - opening] != self.text or "\n" in self.text[:offset]:
            return self.position
        return replace_column(self.position, offset + opening)

    def with_value(self, text: str, *, is_secret: bool) -> Text:
        """Return the same value with another text."""
        return self if text == self.text else replace(self, text=text, source="", is_secret=is_secret)


@dataclass(frozen=True)
class Mapping:
    """Keys and values, in the order of the file."""

    entries: tuple[tuple[Text, Node], ...]
    position: DocumentPosition


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    position: DocumentPosition


Node: TypeAlias = Text | Mapping | Sequence


def replace_column(position: DocumentPosition, columns: int) -> DocumentPosition:
    """Return the place some columns to the right."""
    return DocumentPosition(position.line, position.column + columns)


def describe(node: Node) -> str:
    """Return words for the kind of a node."""
    if isinstance(node, Text):
        return "nothing" if node.is_null else "a text"
    return "keys with values" if isinstance(node, Mapping) else "a list"


def parse_document(text: str, name: str, problems: list[Problem]) -> Node | None:
    """Parse YAML.

    Args:
        text: The YAML.
        name: The file, for errors.
        problems: The list that problems are added to which leave the rest of the file readable.

    Returns:
        The root; None for a file without any.

    Raises:
        PipelineError: It is not YAML; the message shows nothing of the file but the place.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = DocumentPosition(mark.line + 1, mark.column + 1) if mark else None
        raise PipelineError(name, [Problem(position, _syntax_error(error))]) from None
    except yaml.YAMLError as error:
        raise PipelineError(
            name, [Problem(None, f"it is not YAML: {getattr(error, 'reason', 'unreadable')}")]
        ) from None
    return None if root is None else _NodeBuilder(text, problems).node(root, ())


def _syntax_error(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem)
    if error.context == "while scanning an alias":
        return r"a value that begins with * stands between quotes, or begins with \*"
    if "alias" in problem:
        return "the alias has no anchor; a value that begins with * stands between quotes"
    if "single document" in str(error.context):
        return "a file has one pipeline, but a second document begins here"
    # A quoted character is one of the grammar's, but longer quotations are of the file, and could be a secret
    shown = re.sub(r"'[^']{3,}'", "a text", problem) if "expected" not in problem else problem
    hint = "; indent by blanks" if r"'\t'" in shown else ""
    if "mapping values are not allowed" in shown:
        hint = "; a value with ': ' in it stands between quotes, and all keys of a section are indented alike"
    return f"it is not YAML: {shown}{hint}"


class _NodeBuilder:
    def __init__(self, text: str, problems: list[Problem]) -> None:
        self._text = text
        self._problems = problems

    def node(self, node: yaml.Node, ancestors: tuple[int, ...]) -> Node:
        position = _position(node)
        if id(node) in ancestors or len(ancestors) > _MOST_LEVELS:
            self._problems.append(Problem(position, "the value contains itself, or has too many levels"))
            return Text("", position)
        if not str(node.tag).startswith(_OWN_TAG):
            self._problems.append(Problem(position, f"the tag {node.tag!r} is unknown: remove it"))
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        inner = (*ancestors, id(node))
        if isinstance(node, yaml.SequenceNode):
            return Sequence(tuple(self.node(child, inner) for child in node.value), position)
        return Mapping(tuple(self._entries(node, inner)), position)

    def _scalar(self, node: yaml.ScalarNode) -> Text:
        source = self._text[node.start_mark.index : node.end_mark.index]
        return Text(str(node.value), _position(node), node.tag == _OWN_TAG + "null", source)

    def _entries(self, node: Any, ancestors: tuple[int, ...]) -> Iterator[tuple[Text, Node]]:
        first: dict[str, Text] = {}
        for key_node, value_node in node.value:
            key = self.node(key_node, ancestors)
            if not isinstance(key, Text) or key_node.tag == _OWN_TAG + "merge":
                self._problems.append(Problem(_position(key_node), "expected a key, which is one word"))
                continue
            other = first.setdefault(key.text.lower(), key)
            if other is not key:
                sentence = f"key {key.text!r} is there already, in {other.position}: remove one of them"
                self._problems.append(Problem(key.position, sentence))
                continue
            yield key, self.node(value_node, ancestors)


def _position(node: yaml.Node) -> DocumentPosition:
    return DocumentPosition(node.start_mark.line + 1, node.start_mark.column + 1)
