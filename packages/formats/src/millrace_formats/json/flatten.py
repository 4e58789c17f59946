"""Flatten messages whose nested fields are columns named ``a.b.c``, and decode them as flat ones."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.types as pt

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import MalformedMessageError
from millrace_formats.json.parser import json_text, parse

_raw_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_quoted = msgspec.json.encode


class FlatteningDecoder(Decoder):
    """Decode messages after their nested fields have become fields of their own.

    An object is flattened if there is a column for a field in it; a STRUCT or MAP column gets it as well, any other
    column of its name is NULL then. Another object stays one, so that a STRING column has its text. Of fields with the
    same name, as in ``{"a": {"b": 1}, "a.b": 2}``, the last one that is not null counts.

    Args:
        inner: Decodes flat messages.
        schema: The columns.
    """

    def __init__(self, inner: Decoder, schema: pa.Schema) -> None:
        self._inner = inner
        self._labels = {name: bytes(_quoted(name)) + b":" for name in schema.names}
        self._nested = {field.name for field in schema if pt.is_struct(field.type) or pt.is_map(field.type)}
        self._objects = {name[:dot] for name in self._labels for dot, char in enumerate(name) if char == "."}

    def explain(self) -> str:
        """Name the path that messages take."""
        return f"each made flat, one by one; then {self._inner.explain()}"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; a message that cannot be flattened goes to the inner decoder, which reports it."""
        return self._inner.decode(Payloads([self._flatten(payload) for payload in payloads.to_list()]))

    def _flatten(self, payload: bytes | None) -> bytes | None:
        if not payload:
            return payload
        try:
            if not payload.isascii():
                payload.decode()
            flat: dict[str, bytes] = {}
            self._add_raw(flat, _raw_fields(payload), "")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._flatten_parsed(payload)
        return b"{" + b",".join([self._labels[name] + raw for name, raw in flat.items()]) + b"}"

    def _add_raw(self, flat: dict[str, bytes], fields: dict[str, msgspec.Raw], prefix: str) -> None:
        for field, raw in fields.items():
            name, value = prefix + field, bytes(raw).strip()
            is_flattened = value.startswith(b"{") and name in self._objects
            if is_flattened:
                self._add_raw(flat, _raw_fields(value), f"{name}.")
            if is_flattened and name not in self._nested:
                continue
            if name in self._labels and (value != b"null" or name not in flat):
                flat[name] = value

    def _flatten_parsed(self, payload: bytes) -> bytes:
        try:
            tree = parse(payload)
            if not isinstance(tree, dict):
                return payload
            flat: dict[str, Any] = {}
            self._add_parsed(flat, tree, "")
            return json_text(flat).encode("utf-8", "replace")
        except (MalformedMessageError, RecursionError):
            return payload

    def _add_parsed(self, flat: dict[str, Any], tree: dict[str, Any], prefix: str) -> None:
        for field, value in tree.items():
            name = prefix + field
            is_flattened = isinstance(value, dict) and name in self._objects
            if is_flattened:
                self._add_parsed(flat, value, f"{name}.")
            if is_flattened and name not in self._nested:
                continue
            if name in self._labels and (value is not None or name not in flat):
                flat[name] = value
