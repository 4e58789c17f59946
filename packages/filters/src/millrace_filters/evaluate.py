"""Evaluate an `Expression` for a batch of records."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_filters.expression import Condition, Expression

_COMBINE = {"&": operator.and_, "|": operator.or_}


def mask(expression: Expression, headers: pa.ListArray) -> pa.BooleanArray:
    """Return for each record whether ``expression`` keeps it; without nulls.

    Args:
        expression: The filter.
        headers: The records' headers, of type `millrace.contracts.HEADERS`.
    """
    batch = _Batch(headers)
    matched = {condition: batch.matches(condition) for condition in {term.condition for term in expression.terms}}
    first, *others = (matched[term.condition] != term.negated for term in expression.terms)
    combined = first
    for link, holds in zip(expression.rest, others, strict=True):
        combined = _COMBINE[link.operator](combined, holds)
    return pa.array(combined)


class _Batch:
    """The headers of a batch of records, laid out one after another."""

    def __init__(self, headers: pa.ListArray) -> None:
        entries = headers.flatten()
        self._record_count = len(headers)
        self._record_of_entry = pc.list_parent_indices(headers).to_numpy()
        self._keys = pc.struct_field(entries, "key")
        self._values = pc.struct_field(entries, "value")
        self._with_key = cache(lambda key: pc.equal(self._keys, key))

    def matches(self, condition: Condition) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each record whether one of its headers has the condition's key and value."""
        has_value = pc.equal(self._values, pa.scalar(condition.value.encode(), pa.binary()))
        entries = pc.fill_null(pc.and_(self._with_key(condition.key), has_value), fill_value=False)
        has_match = np.zeros(self._record_count, np.bool_)
        has_match[self._record_of_entry[entries.to_numpy(zero_copy_only=False)]] = True
        return has_match
