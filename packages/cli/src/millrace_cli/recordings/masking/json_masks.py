"""Mask JSON in its text, so that all that is not masked stays as it is written: spaces, digits, repeated names."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from millrace_cli.recordings.masking.pseudonyms import FIELD, Pseudonyms
from millrace_cli.recordings.masking.text_masks import TextMasks

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|-?[0-9][0-9.eE+-]*|true|false|null')
_COLON = re.compile(r"[ \t\r\n]*:")


class JsonMasks:
    """Mask fields of JSON by their names, and what is recognized in all other strings and numbers.

    JSON in a string, as some programs wrap messages, is searched, too.

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

    def mask_known(self, text: str) -> str:
        """Return JSON with masks; of a single string or number also if it is the value of a field masked before.

        Args:
            text: The JSON, which must be valid.
        """
        scalar = text.strip()
        if scalar[0] in "{[" or not self._pseudonyms.has_whole(_decoded(scalar)):
            return self.mask(text)
        return self._value(scalar)

    def mask_all(self, text: str, counted_as: str) -> str:
        """Return JSON with masks for all values in it.

        Args:
            text: The JSON, which must be valid.
            counted_as: The kind for which they are counted.
        """
        return "".join(self._pieces(text, counted_as))

    def _pieces(self, text: str, counted_as: str | None = None) -> Iterator[str]:
        written = 0
        # Whether all in the present object or list is masked, and in those around it
        is_masked, around = counted_as is not None, list[bool]()
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
                yield self._value(lexeme, counted_as) if is_masked or is_field else self._recognized(lexeme)
                is_field = False
        yield text[written:]

    def _recognized(self, lexeme: str) -> str:
        if lexeme[0] == '"':
            return self._string(lexeme, may_be_json=True)
        return self._text_masks.mask_number(lexeme) if lexeme.isdecimal() else lexeme

    def _string(self, lexeme: str, *, may_be_json: bool = False) -> str:
        text = json.loads(lexeme)
        masked = self.mask(text) if may_be_json and _is_wrapped(text) else self._text_masks.mask(text)
        return lexeme if masked == text else _encoded(masked)

    def _value(self, lexeme: str, counted_as: str | None = None) -> str:
        if lexeme == "null":
            return lexeme
        if lexeme in ("true", "false"):
            self._pseudonyms.masked[counted_as or FIELD] += 1
            return "false"
        mask = self._pseudonyms.whole(_decoded(lexeme), counted_as)
        return f'"{mask}"' if lexeme[0] == '"' else mask


def is_json(text: str) -> bool:
    """Return whether text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_wrapped(text: str) -> bool:
    """Return whether a string is JSON that can have fields."""
    return text.lstrip()[:1] in ("{", "[", '"') and is_json(text)


def _decoded(lexeme: str) -> str:
    """Return the text of a string, or the digits of a number: the same original in other places."""
    return str(json.loads(lexeme)) if lexeme[0] == '"' else lexeme


def _encoded(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which JSON has by an escape only
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)
