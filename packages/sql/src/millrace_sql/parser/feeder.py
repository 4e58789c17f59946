"""Feed a statement's tokens to the grammar.

No word of the language is reserved: what a word is depends on what the grammar allows at its place. That is why the
tokens are made here, one at a time, and not by a lexer before.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from millrace_sql.errors import SqlError
from millrace_sql.parser.grammar import begins_query, new_parser, takes, terminals_of
from millrace_sql.parser.passages import Passage, end_of_passage
from millrace_sql.parser.scanner import ScannedToken, Script
from millrace_sql.parser.syntax_errors import syntax_error

if TYPE_CHECKING:
    from lark import Token

_MAX_DEPTH = 100
"""Types nested more deeply would exhaust the stack of who walks through them; nothing else nests."""


class StatementFeeder:
    """Feed one statement of a script.

    Args:
        script: The script.
        offset: The offset at which the statement begins.

    Attributes:
        offset: The offset behind the last token.
        tokens: The tokens so far.
        is_ended: Whether ``;`` stands behind the statement.
    """

    def __init__(self, script: Script, offset: int) -> None:
        self.script = script
        self.offset = offset
        self.tokens: list[Token] = []
        self.parser = new_parser()
        self.is_ended = False
        self._in_set = False
        self._adds_columns = False
        self._depth = 0

    def run(self) -> Any:
        """Feed all tokens of the statement, and return what the grammar makes of them.

        Raises:
            SqlSyntaxError: The statement is wrong.
        """
        while True:
            scanned = self.script.scan(self.offset)
            token = self.next_token(scanned)
            statement = self.feed(token)
            if token.type == "$END":
                self.is_ended = scanned.text == ";"
                return statement

    def next_token(self, scanned: ScannedToken) -> Token:
        """Return the token that the grammar takes at this place.

        Args:
            scanned: What stands there.

        Raises:
            SqlSyntaxError: The grammar takes none.
        """
        from lark import Token

        choices = self.choices()
        terminal, end = self._passage(scanned, choices) or (self._terminal(scanned, choices), scanned.end)
        if terminal is None:
            raise syntax_error(self.script, self.tokens, scanned)
        position = self.script.position(scanned.start)
        return Token(
            terminal,
            self.script.text[scanned.start : end],
            scanned.start,
            position.line,
            position.column,
            end_pos=end,
        )

    def choices(self) -> AbstractSet[str]:
        """Return the terminals that the grammar may take next; it does not take all of them."""
        return self.parser.choices().keys()

    def feed(self, token: Token) -> Any:
        """Feed a token; return the statement once it is complete.

        Raises:
            SqlSyntaxError: The grammar does not take the token here, or what it completes is wrong.
        """
        from lark import UnexpectedToken

        self._count(token)
        try:
            statement = self.parser.feed_token(token)
        except UnexpectedToken:
            raise syntax_error(self.script, self.tokens, self.script.scan(token.start_pos or 0)) from None
        except SqlError as error:
            raise error.with_script(self.script.text) from None
        self.tokens.append(token)
        self.offset = token.end_pos or self.offset
        return statement

    def _count(self, token: Token) -> None:
        self._in_set = {"BEGIN": True, "END": False}.get(token.type, self._in_set)
        self._adds_columns |= token.type == "ADD"
        self._depth += {"LESSTHAN": 1, "LPAR": 1, "MORETHAN": -1, "RPAR": -1}.get(token.type, 0)
        if self._depth > _MAX_DEPTH:
            raise self.script.error(f"types are nested in each other more than {_MAX_DEPTH} deep", token.start_pos or 0)

    def _passage(self, scanned: ScannedToken, choices: AbstractSet[str]) -> tuple[str, int] | None:
        """Cut a query, an expression or a setting, where the grammar takes one and it begins here."""
        if scanned.kind == "end" or scanned.text == ";":
            return None
        if "EXPRESSION" in choices:
            passage: Passage = "added column" if self._adds_columns else "expression"
            end = end_of_passage(self.script, scanned.start, passage)
            return ("EXPRESSION", end) if end > scanned.start else None
        if "QUERY" in choices and self._begins_query(scanned, choices):
            return "QUERY", end_of_passage(self.script, scanned.start, "query of a set" if self._in_set else "query")
        if scanned.kind != "text" and ("SETTING_KEY" in choices or "SETTING_VALUE" in choices):
            terminal = "SETTING_KEY" if "SETTING_KEY" in choices else "SETTING_VALUE"
            end = self.script.end_of_setting(scanned.start, terminal == "SETTING_KEY")
            return (terminal, end) if end > scanned.start else None
        return None

    def _begins_query(self, scanned: ScannedToken, choices: AbstractSet[str]) -> bool:
        first = scanned
        while first.text == "(":
            first = self.script.scan(first.end)
        if first.kind != "word" or not begins_query(first.text):
            return False
        return (scanned.text == "(" or self._word(scanned, choices) is None) and takes(self.parser, "QUERY")

    def _terminal(self, scanned: ScannedToken, choices: AbstractSet[str]) -> str | None:
        if scanned.kind == "end" or (scanned.text == ";" and not self._in_set):
            return "$END"
        if scanned.kind in ("word", "symbol") and (word := self._word(scanned, choices)):
            return word
        terminal = {"word": "WORD", "number": "SIZE", "quoted": "QUOTED", "text": "TEXT"}.get(scanned.kind)
        return terminal if terminal in choices else None

    def _word(self, scanned: ScannedToken, choices: AbstractSet[str]) -> str | None:
        """Return the word of the language or the symbol that the grammar takes."""
        word = scanned.text.upper()
        # The choices of a state are those of all rules that it may be in
        is_ambiguous = "WORD" in choices if scanned.kind == "word" else False
        is_ambiguous |= "QUERY" in choices and begins_query(word)
        for name in terminals_of(word):
            if name in choices and (not is_ambiguous or takes(self.parser, name)):
                return name
        return None
