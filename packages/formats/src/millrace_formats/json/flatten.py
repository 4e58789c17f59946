"""Messages whose nested fields are columns, named as ``a.b.c``: they are made flat, then read as any other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from millrace.contracts import Decoded, Decoder, Payloads
from millrace_formats.json.parser import json_text, parse
from millrace_formats.shared.malformed_message import MalformedMessageError

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_quoted = msgspec.json.encode


class FlatDecoder(Decoder):
    """Decodes messages after their nested fields have become fields of their own.

    An object is gone into where there is a column for something in it; another one stays what it is, so that a STRING
    column has its text. Of fields with the same name, as ``{"a": {"b": 1}, "a.b": 2}`` has, the last one that is not
    null counts.

    Args:
        inner: Decodes flat messages.
        names: The columns.
    """

    def __init__(self, inner: Decoder, names: Iterable[str]) -> None:
        self._inner = inner
        self._wanted = {name: bytes(_quoted(name)) + b":" for name in names}
        self._outer = {name[:place] for name in self._wanted for place, sign in enumerate(name) if sign == "."}

    def explain(self) -> str:
        """Which path messages take."""
        return f"each made flat, one by one; then {self._inner.explain()}"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; a message that cannot be made flat is left to the inner decoder, which says what is wrong."""
        return self._inner.decode(Payloads([self._flat(payload) for payload in payloads.to_list()]))

    def _flat(self, payload: bytes | None) -> bytes | None:
        if not payload:
            return payload
        try:
            if not payload.isascii():
                payload.decode()
            found: dict[str, bytes] = {}
            self._fill(found, _fields(payload), "")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._flat_leniently(payload)
        return b"{" + b",".join([self._wanted[name] + raw for name, raw in found.items()]) + b"}"

    def _fill(self, found: dict[str, bytes], fields: dict[str, msgspec.Raw], outer: str) -> None:
        for field, raw in fields.items():
            name, value = outer + field, bytes(raw).strip()
            if value.startswith(b"{") and name in self._outer:
                self._fill(found, _fields(value), f"{name}.")
            elif name in self._wanted and (value != b"null" or name not in found):
                found[name] = value

    def _flat_leniently(self, payload: bytes) -> bytes:
        try:
            tree = parse(payload)
            if not isinstance(tree, dict):
                return payload
            found: dict[str, Any] = {}
            self._fill_from_tree(found, tree, "")
            return json_text(found).encode("utf-8", "replace")
        except (MalformedMessageError, RecursionError):
            return payload

    def _fill_from_tree(self, found: dict[str, Any], tree: dict[str, Any], outer: str) -> None:
        for field, value in tree.items():
            name = outer + field
            if isinstance(value, dict) and name in self._outer:
                self._fill_from_tree(found, value, f"{name}.")
            elif name in self._wanted and (value is not None or name not in found):
                found[name] = value
