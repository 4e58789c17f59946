"""Count what a read would have, by reading it as its tasks do, on the driver; what it would collect is dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from millrace.checkpoint import Offsets
from millrace.configuration import SourceConfig
from millrace.contracts import ChangelogFormat
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.plans.parts import RowCount, TimeSpan
from millrace.records.messages import Messages
from millrace.source.enumerator.record_probe import RecordProbe
from millrace.source.reader.dead_letters import DiscardingCollector
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.pipeline import build_record_batches, read_table, split_fetcher
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import Split


class Counted(NamedTuple):
    """The numbers of a read.

    Attributes:
        messages: The number of its messages.
        rows: The number of its rows.
        span: Their time span; None without messages.
    """

    messages: RowCount
    rows: RowCount
    span: TimeSpan | None


class _Tally:
    """Count messages as they pass by."""

    def __init__(self) -> None:
        self.messages = 0
        self._first: int | None = None
        self._last: int | None = None

    def watch(self, fetched: Iterable[Messages]) -> Iterator[Messages]:
        """Yield what was fetched, counted."""
        for messages in fetched:
            self.messages += len(messages.items)
            stamps = [stamp for stamp in (message.timestamp()[1] for message in messages.items) if stamp >= 0]
            if stamps:
                self._first = min([*stamps, *([] if self._first is None else [self._first])])
                self._last = max([*stamps, *([] if self._last is None else [self._last])])
            yield messages

    @property
    def span(self) -> TimeSpan | None:
        """The timestamps seen."""
        return None if self._first is None or self._last is None else TimeSpan(self._first, self._last, is_exact=True)


def count_by_reading(
    config: SourceConfig, schema: pa.Schema | None, zone: str, splits: Sequence[Split], compacted: Sequence[str]
) -> Counted:
    """Count messages and rows by reading the splits.

    Args:
        config: How to read.
        schema: The columns; None where they are not known, so that rows are not counted.
        zone: The time zone of text that has none.
        splits: What to read, all of it there already.
        compacted: The topics that are compacted, which may lose messages until a run.

    Raises:
        MessageError: A message is malformed, and that would end the run.
        DataLossError, ClientError: As `fetch`.
    """
    client = Properties({**config.client, **STATISTICS_OFF})
    config = dataclasses.replace(config, client=client, dead_letter_collector=None)
    tally, rows = _Tally(), 0
    for split in splits:
        rows += sum(batch.num_rows for batch in _read(config, schema, zone, split, tally))
    known = _bound_by_compaction(tally.messages, compacted)
    if config.options.keeps_state and any(split.is_stream for split in splits):
        rows_count = RowCount(2 * tally.messages, False, "a message changes a row that the state may hold, or not")
    elif schema is None:
        rows_count = RowCount(
            tally.messages if _has_one_row_a_message(config) else None, False, "the columns are not known"
        )
    else:
        rows_count = _bound_by_compaction(rows, compacted)
    return Counted(known, rows_count, tally.span)


def bound_by_offsets(config: SourceConfig, start: Offsets, end: Offsets, reason: str) -> Counted:
    """Return what offsets say of the numbers, and the time span by the messages at the ends.

    Args:
        config: How to read.
        start: Where each partition begins.
        end: Where it ends.
        reason: The reason why nothing is counted.
    """
    offsets = sum(end[partition] - start[partition] for partition in end)
    several = 2 if config.options.has_primary_key else None
    factor = 1 if _has_one_row_a_message(config) else several
    rows = None if factor is None else factor * offsets
    return Counted(RowCount(offsets, False, reason), RowCount(rows, False, reason), _span_of_ends(config, start, end))


def _read(
    config: SourceConfig, schema: pa.Schema | None, zone: str, split: Split, tally: _Tally
) -> Iterator[pa.RecordBatch]:
    metrics = SplitMetrics()
    fetch_split = split_fetcher(config, metrics)

    def fetch_counted(split: Split) -> Iterable[Messages]:
        return tally.watch(fetch_split(split))

    policy = ErrorPolicy(config.options, metrics, DiscardingCollector())
    if schema is None or (config.options.keeps_state and split.is_stream):
        for _ in fetch_counted(split):
            pass
    elif config.options.has_primary_key:
        yield from read_table(fetch_counted, config, schema, zone, split, metrics, policy)
    else:
        yield from build_record_batches(fetch_counted(split), config, schema, zone, metrics, policy)


def _has_one_row_a_message(config: SourceConfig) -> bool:
    if config.options.has_primary_key:
        return False
    return config.value_format is None or not isinstance(config.value_format.create(), ChangelogFormat)


def _bound_by_compaction(number: int, compacted: Sequence[str]) -> RowCount:
    if not compacted or number == 0:
        return RowCount(number, True, "counted by reading")
    return RowCount(number, False, f"topic {compacted[0]!r} is compacted, which may remove more until the run")


def _span_of_ends(config: SourceConfig, start: Offsets, end: Offsets) -> TimeSpan | None:
    wanted = {partition: offset for partition, offset in start.items() if end.get(partition, offset) > offset}
    ends = {partition: end[partition] for partition in wanted}
    probe = RecordProbe(config.client)
    first = probe.next_timestamps(wanted, ends)
    last = probe.next_timestamps({p: offset - 1 for p, offset in ends.items()}, ends)
    # The last offset may be the marker of a transaction
    before = {p: max(wanted[p], offset - 2) for p, offset in ends.items() if p not in last}
    stamps = [*first.values(), *last.values(), *probe.next_timestamps(before, ends).values()]
    return TimeSpan(min(stamps), max(stamps), is_exact=False) if stamps else None
