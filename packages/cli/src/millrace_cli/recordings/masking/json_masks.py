"""Mask JSON in its text, so that all that is not masked stays as it is written: spaces, digits, repeated names."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from millrace_cli.recordings.masking.pseudonyms import Pseudonyms
from millrace_cli.recordings.masking.text_masks import TextMasks

FIELD = "field"

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|-?[0-9][0-9.eE+-]*|true|false|null')
_COLON = re.compile(r"[ \t\r\n]*:")


class JsonMasks:
    """Mask fields of JSON by their names, and what is recognized in all other strings and numbers.

    A masked string becomes another string, a number another number, and a truth value false, so that the message can
    still be decoded. Of an object or a list, all values in it are masked.

    Args:
        fields: The names of fields to mask, in objects at any depth.
        text_masks: Masks strings.
        pseudonyms: Numbers what is masked.
    """

    def __init__(self, fields: Collection[str], text_masks: TextMasks, pseudonyms: Pseudonyms) -> None:
        self._fields = frozenset(fields)
        self._text_masks = text_masks
        self._pseudonyms = pseudonyms

    def mask(self, text: str) -> str:
        """Return JSON with masks.

        Args:
            text: The JSON, which must be valid.
        """
        return "".join(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        written = 0
        # Whether all in the present object or list is masked, and in those around it
        is_masked, around = False, list[bool]()
        is_field = False
        for match in _TOKEN.finditer(text):
            lexeme = match[0]
            yield text[written : match.start()]
            written = match.end()
            if lexeme in "{[":
                around.append(is_masked)
                is_masked, is_field = is_masked or is_field, False
                yield lexeme
            elif lexeme in "}]":
                is_masked = around.pop()
                yield lexeme
            elif lexeme[0] == '"' and _COLON.match(text, match.end()):
                is_field = json.loads(lexeme) in self._fields
                yield self._string(lexeme)
            else:
                yield self._value(lexeme) if is_masked or is_field else self._recognized(lexeme)
                is_field = False
        yield text[written:]

    def _recognized(self, lexeme: str) -> str:
        if lexeme[0] == '"':
            return self._string(lexeme)
        return self._text_masks.mask_number(lexeme) if lexeme.isdecimal() else lexeme

    def _string(self, lexeme: str) -> str:
        text = json.loads(lexeme)
        masked = self._text_masks.mask(text)
        return lexeme if masked == text else json.dumps(masked, ensure_ascii=False)

    def _value(self, lexeme: str) -> str:
        if lexeme == "null":
            return lexeme
        if lexeme in ("true", "false"):
            self._pseudonyms.masked[FIELD] += 1
            return "false"
        number = self._pseudonyms.number(FIELD, lexeme)
        return f'"masked-{number}"' if lexeme[0] == '"' else str(number)
