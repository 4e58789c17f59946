"""Values that Debezium has not: large ones of PostgreSQL, which does not send what an update leaves as it is.

Debezium writes a placeholder instead, by default the text below:
https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-toasted-values
"""

from __future__ import annotations

import base64
from typing import Any

from millrace.change_dialects import REPLICA_IDENTITY_HINT
from millrace.errors import MalformedMessageError
from millrace_catalog.inference.observation import RowImage
from millrace_catalog.types.identifiers import quote_name

_TEXT = "__debezium_unavailable_value"
_BYTES = base64.b64encode(_TEXT.encode()).decode()
_IN_MESSAGES = (_TEXT.encode(), _BYTES.encode())


def has_placeholder(payload: bytes) -> bool:
    """Return whether a message may hold a placeholder."""
    text, base64_text = _IN_MESSAGES
    return text in payload or base64_text in payload


def with_values(after: RowImage, before: RowImage | None) -> RowImage:
    """Return a row in which the values of the row before stand instead of placeholders.

    Raises:
        MalformedMessageError: The row before has none either, so that the row cannot be known.
    """
    missing = [name for name, value in after.items() if _is_placeholder(value)]
    for name in missing:
        if before is None or name not in before or _is_placeholder(before[name]):
            raise MalformedMessageError(
                f"the database did not send the value, which the change has left as it was. {REPLICA_IDENTITY_HINT}",
                quote_name(name),
            )
    return after | {name: before[name] for name in missing} if before is not None else after


def _is_placeholder(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) == 1 and value[0] in (_TEXT, _BYTES)
    return _TEXT in value if isinstance(value, dict) else value in (_TEXT, _BYTES)
