"""Read the messages of some tables, in a topic with those of several."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace.errors import MalformedMessageError
from millrace.options.java_pattern import java_pattern
from millrace.table_names import join_names
from millrace_formats.json.parser import Number, parse

_MAX_CACHED_IDS = 10_000
_decode_value = msgspec.json.Decoder().decode


class TableFilterDecoder(Decoder):
    """Decode the messages of the tables whose ids match a pattern; the others give no rows.

    A message's table id is the values of some fields, joined by points. A message that lacks one is malformed.

    Args:
        inner: Decodes the messages that match.
        fields: The fields.
        pattern: A regular expression in Java's syntax that matches whole ids.
        skips_malformed: Whether malformed messages are skipped.
    """

    def __init__(self, inner: Decoder, fields: Sequence[str], pattern: str, *, skips_malformed: bool) -> None:
        self._inner = inner
        self._fields = tuple(fields)
        self._full_match = java_pattern(pattern).fullmatch
        self._skips_malformed = skips_malformed
        names = [f"field_{number}" for number in range(len(self._fields))]
        header = msgspec.defstruct(
            "Header",
            [(name, msgspec.Raw, msgspec.Raw(b"null")) for name in names],
            rename=dict(zip(names, self._fields, strict=True)),
        )
        self._decode_header = msgspec.json.Decoder(header).decode
        self._cache: dict[tuple[bytes, ...], bool] = {}

    def explain(self) -> str:
        """Name the path that messages take."""
        return f"first the table of each message, alone; then, for messages of this table: {self._inner.explain()}"

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch; a message of another table is left to the inner decoder as a tombstone."""
        selected: list[bytes | None] = []
        errors = []
        for index, payload in enumerate(payloads.to_list()):
            is_selected = False
            try:
                is_selected = payload is not None and self._is_selected(payload)
            except MalformedMessageError as error:
                errors.append(MalformedMessage(index, str(error)))
            selected.append(payload if is_selected else None)
        decoded = self._inner.decode(Payloads(selected))
        if not errors or self._skips_malformed:
            return decoded
        merged = sorted((*decoded.errors, *errors), key=lambda error: error.index)
        return dataclasses.replace(decoded, errors=tuple(merged))

    def _is_selected(self, payload: bytes) -> bool:
        try:
            raw = tuple(map(bytes, msgspec.structs.astuple(self._decode_header(payload))))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._is_parsed_selected(payload)
        is_selected = self._cache.get(raw)
        if is_selected is None:
            values = [_decode_value(value) for value in raw]
            if len(self._cache) >= _MAX_CACHED_IDS:
                self._cache.clear()
            self._cache[raw] = is_selected = self._matches(values)
        return is_selected

    def _is_parsed_selected(self, payload: bytes) -> bool:
        try:
            tree = parse(payload)
        except (MalformedMessageError, RecursionError):
            return True  # the inner decoder reports it
        if not isinstance(tree, Mapping):
            return True
        values = (tree.get(field) for field in self._fields)
        return self._matches([json.loads(value) if isinstance(value, Number) else value for value in values])

    def _matches(self, values: Sequence[Any]) -> bool:
        for field, value in zip(self._fields, values, strict=True):
            if value is None or value == "" or isinstance(value, Mapping | list):
                raise MalformedMessageError("expected a value, which names the table of the message", field)
        names = [value if isinstance(value, str) else json.dumps(value) for value in values]
        # As inference names tables: the value of a single field is the whole id
        return self._full_match(names[0] if len(names) == 1 else join_names(names)) is not None
