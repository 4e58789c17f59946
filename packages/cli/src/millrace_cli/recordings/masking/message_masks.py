"""Mask messages: their keys, values and headers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from millrace.errors import MessageError
from millrace_cli.recordings.contents import payload_text
from millrace_cli.recordings.masking.json_masks import JsonMasks, is_json
from millrace_cli.recordings.masking.pseudonyms import FIELD, Pseudonyms
from millrace_cli.recordings.masking.text_masks import CARD, EMAIL, TextMasks

KEY = "key"
"""The kind that masks whole keys."""

_FIELD_PREFIX = f"{FIELD}:"
_COLUMNS = ("key", "value", "headers")


class MessageMasks:
    """Masks for messages.

    Args:
        kinds: What to mask: ``email``, ``card`` wherever they are recognized; ``key`` for whole keys.
        fields: The names of fields of JSON to mask, and of headers.
        keeps_binary: Whether payloads that are no text stay as they are; otherwise they are an error.
    """

    def __init__(self, kinds: Sequence[str], fields: Sequence[str], *, keeps_binary: bool = False) -> None:
        self._pseudonyms = Pseudonyms()
        self._text = TextMasks(kinds, self._pseudonyms)
        self._json = JsonMasks(fields, self._text, self._pseudonyms)
        self._fields = frozenset(fields)
        self._masks_keys = KEY in kinds
        self._keeps_binary = keeps_binary

    @property
    def masked(self) -> Counter[str]:
        """The number of masked values by kind so far."""
        return self._pseudonyms.masked

    def apply(self, rows: pa.Table) -> pa.Table:
        """Return messages with masks, in the columns of a recording.

        Raises:
            MessageError: A payload is binary, or a value is not JSON, though fields are to be masked in it.
        """
        messages = [self._message(row) for row in rows.select(["partition", "offset", *_COLUMNS]).to_pylist()]
        for name in _COLUMNS:
            field = rows.schema.field(name)
            masked = pa.array([message[name] for message in messages], field.type)
            rows = rows.set_column(rows.schema.get_field_index(name), field, masked)
        return rows

    def _message(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a message with masks; the value goes first, since keys and headers repeat what fields of it have."""
        place = row["partition"], row["offset"]
        value = self._payload(row["value"], "value", place)
        headers = row["headers"] and [self._named_header(header) for header in row["headers"]]
        key = self._payload(row["key"], "key", place)
        headers = headers and [self._other_header(header, place) for header in headers]
        return {"key": key, "value": value, "headers": headers}

    def _named_header(self, header: dict[str, Any]) -> dict[str, Any]:
        name, payload = header["key"], header["value"]
        if name not in self._fields or payload is None:
            return header
        text = payload_text(payload)
        return {"key": name, "value": self._pseudonyms.whole(payload if text is None else text).encode()}

    def _other_header(self, header: dict[str, Any], place: tuple[int, int]) -> dict[str, Any]:
        name, payload = header["key"], header["value"]
        if name in self._fields:
            return header
        return {"key": name, "value": self._payload(payload, f"header {name!r}", place)}

    def _payload(self, payload: bytes | None, part: str, place: tuple[int, int]) -> bytes | None:
        if not payload:
            return payload
        text = payload_text(payload)
        if text is not None:
            return self._masked(text, part, place).encode()
        if self._keeps_binary:
            return payload
        raise MessageError(
            f"the {part} at partition {place[0]}, offset {place[1]} is binary, in which --mask finds nothing: "
            f"record without it, or keep binary keys, values and headers as they are by --keep-binary"
        )

    def _masked(self, text: str, part: str, place: tuple[int, int]) -> str:
        if part == KEY and self._masks_keys:
            return self._json.mask_all(text, KEY) if is_json(text) else self._pseudonyms.whole(text, KEY)
        if is_json(text):
            return self._json.mask(text) if part == "value" else self._json.mask_known(text)
        if self._fields and part == "value":
            raise MessageError(
                f"the {part} at partition {place[0]}, offset {place[1]} is not JSON, in which --mask finds no fields: "
                f"record without {_FIELD_PREFIX}{min(self._fields)}, or leave such messages out by --where"
            )
        return self._pseudonyms.whole(text) if self._pseudonyms.has_whole(text) else self._text.mask(text)


def parse_masks(text: str, *, keeps_binary: bool = False) -> MessageMasks:
    """Parse a list such as ``email,card,field:iban``.

    Args:
        text: The list.
        keeps_binary: As for `MessageMasks`.

    Raises:
        ValueError: A part is neither a kind nor a field.
    """
    parts = [part.strip() for part in text.split(",")]
    kinds = [part for part in parts if part in (EMAIL, CARD, KEY)]
    fields = [part.removeprefix(_FIELD_PREFIX) for part in parts if part.startswith(_FIELD_PREFIX)]
    unknown = [part for part in parts if part not in kinds and not part.startswith(_FIELD_PREFIX)]
    if unknown or not all(fields):
        raise ValueError(
            f"expected {EMAIL}, {CARD}, {KEY}, or a field of JSON such as {_FIELD_PREFIX}iban, separated by commas, "
            f"got {text!r}"
        )
    return MessageMasks(kinds, fields, keeps_binary=keeps_binary)
