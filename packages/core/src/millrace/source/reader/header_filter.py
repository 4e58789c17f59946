"""Filtering by headers, before anything is decoded."""

from __future__ import annotations

from itertools import compress

from millrace.contracts import HeaderFilter
from millrace.errors import PluginError
from millrace.records.messages import Messages, headers_of


def keep(header_filter: HeaderFilter | None, messages: Messages) -> Messages:
    """The messages whose headers the filter lets through."""
    if header_filter is None:
        return messages
    mask = header_filter.mask(headers_of(messages))
    if len(mask) != len(messages.items) or mask.null_count:
        raise PluginError(
            f"header filter {type(header_filter).__name__} gave {len(mask)} answers, {mask.null_count} of them null, "
            f"for {len(messages.items)} records"
        )
    return Messages(messages.partition, list(compress(messages.items, mask.to_pylist())))
