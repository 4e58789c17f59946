"""The partitioner ``by-region``."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from millrace.contracts import RecordPartitioner
from millrace.options import option


def parse_separator(text: str) -> str:
    """Parse the separator.

    Raises:
        ValueError: It is empty.
    """
    if not text:
        raise ValueError("expected at least one character")
    return text


@dataclass(frozen=True)
class RegionOptions:
    """The options of ``by-region``, set as ``sink.partitioner.<name>``.

    Attributes:
        separator: The text between the region and the rest of a record's key.
    """

    separator: str = option(
        "separator",
        default=":",
        parse=parse_separator,
        doc="The text between the region and the rest of a record's key.",
    )


class RegionPartitioner(RecordPartitioner):
    """Write all records of a region to one partition; the region is the part of their keys before the separator.

    For records without a key, or without a region in it, the producer chooses the partition.
    """

    Options = RegionOptions

    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int | None:
        """Return the partition of the record's region, None without one; see `RecordPartitioner.partition_record`."""
        region, separator, _ = (key or b"").partition(self.options.separator.encode())
        # Not hash(): its result differs from one Python process to the next
        return zlib.crc32(region) % partition_count if separator else None
