"""The partitioner ``by-region``."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from millrace.contracts import RecordPartitioner
from millrace.options import option


def parse_separator(text: str) -> str:
    """The separator, which must not be empty."""
    if not text:
        raise ValueError("expected at least one character")
    return text


@dataclass(frozen=True)
class RegionOptions:
    """The options of ``by-region``, given as ``sink.partitioner.<name>``.

    Attributes:
        separator: What follows the region in a record's key.
    """

    separator: str = option(
        "separator", default=":", parse=parse_separator, doc="What follows the region in a record's key."
    )


class RegionPartitioner(RecordPartitioner):
    """Writes all records of a region to one partition; the region is what comes before the separator in their keys.

    Records without a key, or without a region in it, are left to the client.
    """

    Options = RegionOptions

    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int | None:
        """The partition of the record's region: see `RecordPartitioner.partition_record`."""
        region, separator, _ = (key or b"").partition(self.options.separator.encode())
        # Not hash(): its result differs from one Python process to the next
        return zlib.crc32(region) % partition_count if separator else None
