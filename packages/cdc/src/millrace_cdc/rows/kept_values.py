"""Values that an update leaves as they were and does not have: its table's key has them, in an earlier row."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def with_kept_values(row: bytes, earlier: bytes, names: Collection[str]) -> bytes:
    """Return a row, as JSON, with the values of an earlier row in some columns."""
    if not names:
        return row
    values, known = _decode(row), _decode(earlier)
    return _encode({name: known.get(name, value) if name in names else value for name, value in values.items()})
