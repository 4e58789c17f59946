"""Parse ``sasl.jaas.config``, Java's login configuration, by the rules of Kafka's JaasConfig.

No error shows any of the text, since any part of a text that cannot be parsed may be the password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Kafka's own tokenizer: quotes of both kinds with Java's escapes, a quote that is not closed ends with its line, and
# a slash outside of quotes begins a comment
_TOKENS = re.compile(
    r"""
      (?P<space>   [\x00-\x20]+ | /\*.*?(?:\*/|\Z) | /.?[^\r\n]* )
    | "(?P<double> (?:\\.|[^"\\\r\n])* )"?
    | '(?P<single> (?:\\.|[^'\\\r\n])* )'?
    | (?P<word>    [^\x00-\x20/"'=;\x81-\x9f]+ )
    | (?P<mark>    . )
    """,
    re.DOTALL | re.VERBOSE,
)
# The reference's SQL and programs in Java write it so: each quote has a backslash, which Kafka does not get to see
_ESCAPED_QUOTES = re.compile(r"""(?:[^"'\\]|\\["\\])*=\s*\\"(?:[^"'\\]|\\["\\])*""")
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS = ("required", "requisite", "sufficient", "optional")


class JaasError(ValueError):
    """A login configuration cannot be parsed; the message shows none of the text."""


@dataclass(frozen=True)
class LoginModule:
    """An entry of a login configuration.

    Attributes:
        name: The class without its package, such as ``PlainLoginModule``.
        options: The options by name.
    """

    name: str
    options: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class _JaasToken:
    position: int
    text: str
    is_text: bool

    @property
    def is_end(self) -> bool:
        return not self.is_text and not self.text


def parse_jaas(text: str) -> LoginModule:
    r"""Parse ``package.of.SomeLoginModule required name="value" ... ;``.

    Where every quote has a backslash, as in ``name=\"value\"``, the text is one of SQL or a program: they are removed.

    Raises:
        JaasError: The text is not of that form, or has more than one entry.
    """
    if _ESCAPED_QUOTES.fullmatch(text):
        text = re.sub(r"\\(.)", r"\1", text)
    tokens = _tokens(text)
    name = _text(next(tokens), "the class of a login module")
    flag = _text(next(tokens), "'required'")
    if flag.lower() not in _FLAGS:
        raise JaasError("after the class of the login module, expected 'required'")
    options = dict(_options(tokens))
    trailing = next(tokens)
    if not trailing.is_end:
        raise JaasError(f"at character {trailing.position}, there is a second entry; give one login module")
    return LoginModule(name.rpartition(".")[2], options)


def _options(tokens: Iterator[_JaasToken]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.text == ";" and not token.is_text:
            return
        name = _text(token, "name=\"value\", or ';' at the end")
        equals = next(tokens)
        if equals.text != "=" or equals.is_text:
            raise JaasError(
                f"at character {equals.position}, expected '='; values with spaces or any of ; = / need quotes, and "
                f"quotes inside of quotes a backslash"
            )
        yield name, _text(next(tokens), "a value, in double quotes")


def _text(token: _JaasToken, expected: str) -> str:
    if not token.is_text:
        cause = (
            "; it ends there, perhaps for a quote that is not closed or a '/' without quotes" if token.is_end else ""
        )
        raise JaasError(f"at character {token.position}, expected {expected}{cause}")
    return token.text


def _tokens(text: str) -> Iterator[_JaasToken]:
    for match in _TOKENS.finditer(text):
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        if kind in ("double", "single"):
            value = _ESCAPE.sub(_unescape, value)
        if kind != "space":
            yield _JaasToken(match.start() + 1, value, is_text=kind != "mark")
    while True:
        yield _JaasToken(len(text) + 1, "", is_text=False)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)
