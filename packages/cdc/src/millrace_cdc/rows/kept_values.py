"""Values that an update leaves as they were and does not have: its table's key has them, in an earlier row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from millrace.change_dialects import REPLICA_IDENTITY_HINT
from millrace_catalog.types.identifiers import quote_name

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def with_kept_values(row: bytes, earlier: bytes, names: Collection[str]) -> bytes:
    """Return a row, as JSON, with the values of an earlier row in some columns."""
    if not names:
        return row
    values, known = _decode(row), _decode(earlier)
    return _encode({name: known.get(name, value) if name in names else value for name, value in values.items()})


def check_same_key(
    key_of: Callable[[bytes], bytes], before: bytes | None, after: bytes | None, kept: Sequence[str]
) -> None:
    """Check that an update with kept values leaves its row's key as it was.

    Args:
        key_of: Returns the key of a row.
        before: The old row; None where it is not known.
        after: The new row.
        kept: The columns.

    Raises:
        ValueError: It does not: nothing has the values by the new key.
    """
    if before is not None and after is not None and key_of(before) != key_of(after):
        raise ValueError(
            f"changes the key of its row, and lacks column {quote_name(kept[0])}, which the database did not send. "
            f"{REPLICA_IDENTITY_HINT}"
        )
