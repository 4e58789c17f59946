"""The offset initializer ``timestamp``: a time in each partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.errors import OptionsError
from millrace.options import option
from millrace.options.values import parse_time_ms
from millrace_offsets.partition_list import parse_list, values_by_partition

LATEST_MILLIS = 2**63 - 1
"""Kafka's latest time."""

_SECONDS_SINCE_2001 = range(1_000_000_000, 10_000_000_000)
"""Numbers that are seconds of our time: as milliseconds they are days of 1970, before anything was written to Kafka."""

_FIRST_MICROSECONDS, _FIRST_NANOSECONDS = 10**14, 10**17
"""The smallest numbers that are microseconds and nanoseconds of our time, from 1973 on."""


def parse_timestamps(text: str) -> tuple[tuple[str | None, int, int], ...]:
    """Parse the option into topic (None for every topic), partition and milliseconds of each entry of the option.

    Raises:
        ValueError: An entry is malformed, a partition is named twice, or a time is later than Kafka's latest.
    """
    entries = parse_list(text, "timestamp", r"\d{1,19}", "partition:0,timestamp:1767323045678;partition:1,timestamp:0")
    times = tuple((topic, partition, int(value)) for topic, partition, value in entries)
    if any(millis > LATEST_MILLIS for _, _, millis in times):
        raise ValueError(f"expected timestamps up to {LATEST_MILLIS}")
    return times


@dataclass(frozen=True, kw_only=True)
class TimestampOptions:
    """The options of ``timestamp``.

    Attributes:
        time: The time as text, for all partitions, in milliseconds since 1970 UTC.
        millis: The same in a number.
        partition_millis: The same for single partitions.
        all_named: Whether those must be all partitions that are read, and no others.
        no_match: The policy for a partition without such a record.
    """

    time: int | None = option(
        "timestamp",
        default=None,
        parse=parse_time_ms,
        doc="Start or stop at the first record with this timestamp or a later one, such as '2026-11-27 16:00', "
        "'2026-11-27 16:00 Europe/Berlin' or '2026-11-27T15:00:00Z'. Without a zone, the zone of the machine "
        "that plans the read applies (an addition).",
    )
    millis: Annotated[int, Interval(ge=0, le=LATEST_MILLIS)] | None = option(
        "timestamp-millis",
        default=None,
        doc="The same in milliseconds since 1970 UTC. One of timestamp, timestamp-millis and partition-timestamps is "
        "required.",
    )
    partition_millis: tuple[tuple[str | None, int, int], ...] = option(
        "partition-timestamps",
        default=(),
        parse=parse_timestamps,
        doc="The same for individual partitions, such as partition:0,timestamp:1000;partition:1,timestamp:2000. If "
        "several topics are read, each entry starts with its topic, as in "
        "topic:orders,partition:0,timestamp:1000 (an addition).",
    )
    all_named: bool = option(
        "all-partitions-named",
        default=False,
        doc="Whether partition-timestamps must list all partitions that are read, and no others, as Spark's own "
        "connector requires (an addition).",
    )
    no_match: Literal["latest", "error"] = option(
        "timestamp-no-match",
        default="latest",
        doc="What happens to a partition without a record at or after the timestamp: latest uses its end, error fails "
        "the query (an addition).",
    )

    def __post_init__(self) -> None:
        if [self.time is None, self.millis is None, not self.partition_millis].count(False) != 1:
            raise ValueError("give timestamp or timestamp-millis, or else partition-timestamps for single partitions")
        single = [millis for _, _, millis in self.partition_millis]
        for millis in single if self.millis is None else [self.millis]:
            _check_unit(millis)


def _check_unit(millis: int) -> None:
    if millis in _SECONDS_SINCE_2001:
        raise ValueError(f"{millis} ms is a day of 1970; if these are seconds, give {millis * 1000}")
    if _FIRST_MICROSECONDS <= millis < LATEST_MILLIS:
        unit, factor = ("nanoseconds", 10**6) if millis >= _FIRST_NANOSECONDS else ("microseconds", 10**3)
        raise ValueError(f"{millis} ms is after the year 5138; if these are {unit}, give {millis // factor}")


class TimestampOffset(OffsetInitializer):
    """The first record whose timestamp is not before a given time; the end of a partition that has none."""

    Options = TimestampOptions

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Look up the offsets of the given times: see `OffsetInitializer.offsets`.

        Raises:
            OptionsError: A partition is named that does not exist, or not all of them where they must, or a partition
                has no such record and that is to be an error.
        """
        times = self._times(partitions)
        at_time: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for partition, millis in times.items():
            at_time[millis].append(partition)
        offsets: dict[TopicPartition, int] = {}
        for millis, together in at_time.items():
            offsets |= lookup.at_timestamp(together, millis)
        if self.options.no_match == "error":
            self._check_all_matched(times, offsets, lookup)
        return offsets

    def _times(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        millis = self.options.millis if self.options.time is None else self.options.time
        if millis is not None:
            return dict.fromkeys(partitions, millis)
        entries, all_named = self.options.partition_millis, self.options.all_named
        return values_by_partition(entries, partitions, "partition timestamps", all_named=all_named)

    def _check_all_matched(
        self, times: Mapping[TopicPartition, int], offsets: Mapping[TopicPartition, int], lookup: OffsetLookup
    ) -> None:
        # Looked up afterwards, so that what is written meanwhile cannot make a match look like the end
        end = lookup.end(list(offsets))
        missing = sorted(partition for partition, offset in offsets.items() if offset >= end[partition])
        if missing:
            more = f" (nor in {len(missing) - 1} more partitions)" if len(missing) > 1 else ""
            raise OptionsError(
                "source",
                (
                    f"no record in {missing[0]}{more} has the timestamp {times[missing[0]]} or a later one; give an "
                    f"earlier time, or set 'timestamp-no-match' ('startingOffsetsByTimestampStrategy') to 'latest' to "
                    f"take the end of such partitions",
                ),
            )
