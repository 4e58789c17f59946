"""Filter messages by their headers, before anything is decoded."""

from __future__ import annotations

import functools
from itertools import compress

from millrace.contracts import HeaderFilter
from millrace.errors import PluginError
from millrace.plugins.manager import PluginRef
from millrace.records.messages import Messages, headers_column


def filter_by_headers(header_filter: HeaderFilter | None, messages: Messages) -> Messages:
    """Return the messages whose headers match the filter; without a filter all of them.

    Raises:
        PluginError: The filter does not keep its contract.
    """
    if header_filter is None:
        return messages
    mask = header_filter.mask(headers_column(messages))
    if len(mask) != len(messages.items) or mask.null_count:
        raise PluginError(
            f"header filter {type(header_filter).__name__} gave {len(mask)} answers, {mask.null_count} of them null, "
            f"for {len(messages.items)} records"
        )
    return Messages(messages.partition, list(compress(messages.items, mask.to_pylist())))


@functools.lru_cache(maxsize=16)
def load_header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    """Return the header filter that the options ask for, if any; each worker creates it once."""
    return None if ref is None else ref.create()
