"""What several readings found of one batch of messages, as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from millrace_formats.avro.fast_reader import Found
from millrace_formats.shared.fallback_decoder import FastRows, empty_batch


def combine(found: Sequence[Found], schema: pa.Schema, count: int) -> FastRows:
    """All rows in the order of their messages.

    Args:
        found: The rows, of different messages.
        schema: Their columns.
        count: How many messages there are.
    """
    if not found:
        return FastRows(empty_batch(schema), np.empty(0, np.int32))
    rows, positions = found[0]
    if len(found) > 1:
        rows = pa.concat_batches([some.rows for some in found])
        positions = np.concatenate([some.positions for some in found])
        order = np.argsort(positions, kind="stable")
        rows, positions = rows.take(pa.array(order)), positions[order]
    return FastRows(rows, None if len(positions) == count else positions)
