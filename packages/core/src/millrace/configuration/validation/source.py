"""Validate options of reads that need others: alignment, header filters, consumer groups."""

from __future__ import annotations

from collections.abc import Iterator

from millrace.options.connector import SourceOptions
from millrace.options.secrets import Properties


def source_problems(options: SourceOptions, client: Properties) -> Iterator[str]:
    """Yield one sentence for each option that has no effect without another one.

    Args:
        options: The options of the source.
        client: The Kafka client's properties of the source.
    """
    if options.idle_timeout_ms and options.max_drift_ms is None:
        yield "option 'scan.watermark.idle-timeout' requires 'scan.watermark.alignment.max-drift'"
    if options.header_filter is None and options.filter_language != SourceOptions().filter_language:
        yield "option 'scan.filter.language' requires 'scan.header-filter'"
    requires_group = {
        "commit.offsets.on.checkpoint": options.commit_offsets,
        "scan.check.duplicated.group.id": options.check_duplicated_group,
    }
    for name, is_set in requires_group.items():
        if is_set and "group.id" not in client:
            yield f"option {name!r} requires 'properties.group.id'"
