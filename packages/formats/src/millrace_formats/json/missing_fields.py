"""Tell of columns that are NULL throughout since no message has their field, mostly for a letter of another case."""

from __future__ import annotations

import logging
from contextlib import suppress
from itertools import islice

import msgspec
import pyarrow as pa

from millrace.contracts import Payloads
from millrace.options.suggestions import closest

logger = logging.getLogger("millrace.json")

_LOOKED_AT = 100
_SHOWN = 10


def warn_of_missing_fields(rows: pa.RecordBatch, payloads: Payloads) -> None:
    """Log which columns of a batch have no field in any of its first messages, with the field that may be meant.

    Args:
        rows: The rows of the batch.
        payloads: Its messages.
    """
    empty = [rows.schema.names[at] for at, column in enumerate(rows.columns) if column.null_count == len(column)]
    if not empty:
        return
    fields: dict[str, None] = {}
    messages = 0
    for payload in islice(payloads.to_list(), _LOOKED_AT):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            fields.update(dict.fromkeys(msgspec.json.decode(payload or b"", type=dict[str, msgspec.Raw])))
            messages += 1
    missing = [name for name in empty if name not in fields]
    if not (missing and fields):
        return
    described = []
    for name in missing:
        close = closest(name, fields)
        described.append(f"{name} (did you mean {close}? names are case-sensitive)" if close else name)
    logger.warning(
        "none of the first %d messages has a field for column %s, which is NULL; they have %s",
        messages,
        ", ".join(described),
        ", ".join(islice(fields, _SHOWN)),
    )
