"""Mask messages: their keys, values and headers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from millrace.errors import MessageError
from millrace_cli.recordings.masking.json_masks import FIELD, JsonMasks
from millrace_cli.recordings.masking.pseudonyms import Pseudonyms
from millrace_cli.recordings.masking.text_masks import CARD, EMAIL, TextMasks

_FIELD_PREFIX = f"{FIELD}:"


class MessageMasks:
    """Masks for messages.

    Args:
        kinds: What to mask wherever it is recognized: ``email``, ``card``.
        fields: The names of fields of JSON to mask, and of headers.
        keeps_binary: Whether payloads that are no text stay as they are; otherwise they are an error.
    """

    def __init__(self, kinds: Sequence[str], fields: Sequence[str], *, keeps_binary: bool = False) -> None:
        self._pseudonyms = Pseudonyms()
        self._text = TextMasks(kinds, self._pseudonyms)
        self._json = JsonMasks(fields, self._text, self._pseudonyms)
        self._fields = frozenset(fields)
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
        places = list(zip(rows["partition"].to_pylist(), rows["offset"].to_pylist(), strict=True))
        for part in ("key", "value"):
            payloads = zip(rows[part].to_pylist(), places, strict=True)
            masked = [self._payload(payload, part, place, needs_json=part == "value") for payload, place in payloads]
            rows = rows.set_column(rows.schema.get_field_index(part), part, pa.array(masked, pa.binary()))
        headers = zip(rows["headers"].to_pylist(), places, strict=True)
        masked_headers = [own and [self._header(header, place) for header in own] for own, place in headers]
        field = rows.schema.field("headers")
        return rows.set_column(rows.schema.get_field_index("headers"), field, pa.array(masked_headers, field.type))

    def _header(self, header: dict[str, Any], place: tuple[int, int]) -> dict[str, Any]:
        name, payload = header["key"], header["value"]
        if name in self._fields and payload is not None:
            number = self._pseudonyms.number(FIELD, payload.hex())
            return {"key": name, "value": f"masked-{number}".encode()}
        return {"key": name, "value": self._payload(payload, f"header {name!r}", place, needs_json=False)}

    def _payload(self, payload: bytes | None, part: str, place: tuple[int, int], *, needs_json: bool) -> bytes | None:
        if not payload:
            return payload
        text = _text(payload)
        if text is None:
            if self._keeps_binary:
                return payload
            raise MessageError(
                f"the {part} at partition {place[0]}, offset {place[1]} is binary, in which --mask finds nothing: "
                f"record without it, or keep binary keys, values and headers as they are by --keep-binary"
            )
        if _is_json(text):
            return self._json.mask(text).encode()
        if self._fields and needs_json:
            raise MessageError(
                f"the {part} at partition {place[0]}, offset {place[1]} is not JSON, in which --mask finds no fields: "
                f"record without {_FIELD_PREFIX}{min(self._fields)}, or leave such messages out by --where"
            )
        return self._text.mask(text).encode()


def parse_masks(text: str, *, keeps_binary: bool = False) -> MessageMasks:
    """Parse a list such as ``email,card,field:iban``.

    Args:
        text: The list.
        keeps_binary: As for `MessageMasks`.

    Raises:
        ValueError: A part is neither a kind nor a field.
    """
    parts = [part.strip() for part in text.split(",")]
    kinds = [part for part in parts if part in (EMAIL, CARD)]
    fields = [part.removeprefix(_FIELD_PREFIX) for part in parts if part.startswith(_FIELD_PREFIX)]
    unknown = [part for part in parts if part not in kinds and not part.startswith(_FIELD_PREFIX)]
    if unknown or not all(fields):
        raise ValueError(
            f"expected {EMAIL}, {CARD}, or a field of JSON such as {_FIELD_PREFIX}iban, separated by commas, got "
            f"{text!r}"
        )
    return MessageMasks(kinds, fields, keeps_binary=keeps_binary)


def _text(payload: bytes) -> str | None:
    if b"\0" in payload:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
