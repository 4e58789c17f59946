"""Prepare the text of an expression for sqlglot.

sqlglot knows many functions by dialect and rewrites their arguments, such as the formats of dates. So each function is
given to it under a neutral name, each text as a number, and each CAST as a function of its value: what they are is
decided here and in `millrace_catalog.expressions.parsing`, not by a dialect.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from millrace_catalog.expressions.functions import FUNCTIONS, OWN_SYNTAX, WITHOUT_PARENTHESES

CALL = "__f"
"""The beginning of neutral names of functions; their numbers follow."""

_TOKEN = re.compile(
    r"(?P<text>'(?:[^']|'')*')"
    r"|(?P<name>`(?:[^`]|``)+`)"
    r"|(?P<star>\\\*)"
    r"|(?P<wrong>\"|'|`|--|/\*|;|\\)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<blank>\s+)"
    r"|(?P<symbol>\|\||<=|>=|<>|!=|.)",
    re.DOTALL,
)
_ADVICE = {
    '"': "a text stands between '...', and a name between `...`",
    "'": "the text has no end: give it a second '",
    "`": "the name has no end: give it a second `",
    "--": "comments are not supported here; YAML has comments by #",
    "/*": "comments are not supported here; YAML has comments by #",
    ";": "expected one expression, without ';'",
    "\\": r"a backslash stands before '*' only",
}
_NOT_CALLED = "AND AS BETWEEN BY CASE ELSE ESCAPE FROM IN IS LIKE NOT OR RLIKE SELECT THEN TO WHEN"
_WORDS_BEFORE_PARENTHESES = frozenset(_NOT_CALLED.split())
_CASTS = ("CAST", "TRY_CAST")
_CONSTRUCTORS = ("ARRAY", "MAP")
"""Functions whose arguments may stand between brackets."""


class ExpressionError(ValueError):
    """An expression is wrong.

    Args:
        message: The problem, and what is expected.
        offset: The character of the text that it is at, from 0.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Call:
    """A function that is called.

    Attributes:
        name: Its name, as it is written.
        offset: Its place in the text.
        type: Of a CAST: the text of the type.
    """

    name: str
    offset: int
    type: str | None = None


@dataclass
class Prepared:
    """A text for sqlglot.

    Attributes:
        text: The text.
        texts: Values of the texts in it, each of which is its number there.
        calls: Functions, by their neutral names.
        items: The first characters, in the user's text, of the items between commas.
    """

    text: str = ""
    texts: list[str] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    items: list[int] = field(default_factory=lambda: [0])
    _places: list[tuple[int, int]] = field(default_factory=list)

    def add(self, text: str, offset: int) -> None:
        """Append a piece, which begins at a character of the user's text."""
        self._places.append((len(self.text), offset))
        self.text += text

    def offset_of(self, position: int) -> int:
        """Return the character of the user's text that a character of this text is from."""
        index = bisect_right(self._places, (position, 1 << 60)) - 1
        return self._places[max(index, 0)][1] if self._places else 0


@dataclass
class _Open:
    """An open parenthesis or bracket: the function before it, if there is one, where it stands, and what closes it."""

    function: str
    offset: int
    call: str = ""
    closing: str = ")"


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup != "blank"]
        self._prepared = Prepared()
        self._open: list[_Open] = []
        self._index = 0

    def scan(self) -> Prepared:
        while self._index < len(self._tokens):
            token = self._tokens[self._index]
            self._index += 1
            getattr(self, f"_add_{token.lastgroup}")(token[0], token.start())
            self._prepared.text += " "
        if self._open:
            raise ExpressionError(f"the {_shape(self._open[-1].closing)} is not closed", self._open[-1].offset)
        return self._prepared

    def _add_text(self, written: str, offset: int) -> None:
        self._prepared.add(f"'{len(self._prepared.texts)}'", offset)
        self._prepared.texts.append(written[1:-1].replace("''", "'"))

    def _add_name(self, written: str, offset: int) -> None:
        self._prepared.add(written, offset)

    def _add_star(self, written: str, offset: int) -> None:
        self._prepared.add("*", offset)

    def _add_wrong(self, written: str, offset: int) -> None:
        raise ExpressionError(_ADVICE[written], offset)

    _add_number = _add_name

    def _add_word(self, written: str, offset: int) -> None:
        upper = written.upper()
        inside = self._open[-1].function if self._open else ""
        if inside in FUNCTIONS and upper in FUNCTIONS[inside].separators:
            self._prepared.add(",", offset)
        elif inside in _CASTS and upper == "AS":
            self._take_type(offset)
        elif upper == "INTERVAL" and (self._next() == "(" or self._next()[:1].isdigit()):
            raise ExpressionError("an interval is written with a text, such as INTERVAL '1' DAY", offset)
        elif self._next() == "(" and upper not in _WORDS_BEFORE_PARENTHESES:
            self._open_call(written, offset)
        elif self._next() == "[" and upper in _CONSTRUCTORS:
            self._open_call(written, offset, "]")
        elif upper in WITHOUT_PARENTHESES:
            self._prepared.add(f"{self._new_call(written, offset)}()", offset)
        else:
            self._prepared.add(written, offset)

    def _add_symbol(self, written: str, offset: int) -> None:
        if written in "([":
            self._open.append(_Open("", offset, closing=")" if written == "(" else "]"))
        elif written in ")]":
            written = self._close(written, offset)
        elif written == "," and not self._open:
            following = self._index < len(self._tokens)
            self._prepared.items.append(self._tokens[self._index].start() if following else len(self._text))
        self._prepared.add(written, offset)

    def _close(self, written: str, offset: int) -> str:
        """Close a parenthesis or bracket, and return what closes it for sqlglot."""
        if not self._open:
            raise ExpressionError(f"the {_shape(written)} was not opened", offset)
        closed = self._open.pop()
        if closed.closing != written:
            raise ExpressionError(f"the {_shape(closed.closing)} is not closed", closed.offset)
        if closed.function in _CASTS and self._prepared.calls[closed.call].type is None:
            raise ExpressionError(f"expected {closed.function}(value AS type)", closed.offset)
        return ")" if closed.call else written

    def _open_call(self, written: str, offset: int, closing: str = ")") -> None:
        opening = self._tokens[self._index].start()
        self._index += 1
        upper = written.upper()
        if upper in OWN_SYNTAX and upper not in _CASTS:
            self._open.append(_Open("", opening))
            self._prepared.add(f"{written}(", offset)
            return
        call = self._new_call(written, offset)
        self._open.append(_Open(upper, opening, call, closing))
        self._prepared.add(f"{call}(", offset)

    def _take_type(self, offset: int) -> None:
        """Take the tokens up to the end of the CAST as its type."""
        depth, start = 0, self._index
        while self._index < len(self._tokens):
            symbol = self._tokens[self._index][0]
            if symbol == ")" and depth == 0:
                break
            depth += (symbol == "(") - (symbol == ")")
            self._index += 1
        if start == self._index:
            raise ExpressionError("expected a type after AS", offset)
        text = self._text[self._tokens[start].start() : self._tokens[self._index - 1].end()]
        call = self._open[-1].call
        self._prepared.calls[call] = Call(self._open[-1].function, self._tokens[start].start(), text)

    def _new_call(self, name: str, offset: int) -> str:
        neutral = f"{CALL}{len(self._prepared.calls)}"
        self._prepared.calls[neutral] = Call(name, offset)
        return neutral

    def _next(self) -> str:
        return self._tokens[self._index][0] if self._index < len(self._tokens) else ""


def _shape(closing: str) -> str:
    return "parenthesis" if closing == ")" else "bracket"


def prepare(text: str) -> Prepared:
    """Prepare the text of an expression, or of a list of them.

    Raises:
        ExpressionError: A text, a name or a parenthesis has no end, or a character is not part of the language.
    """
    return _Scanner(text).scan()
