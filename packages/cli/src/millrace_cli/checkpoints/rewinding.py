"""Copies of millrace's own checkpoints that read records again.

A query without state goes on at any earlier offset. State and watermark cannot be moved to an offset: a query with
state goes back to the end of a micro-batch whose state is still there, at or before what is wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.errors import MillraceError
from millrace.offset_log import OffsetLogEntry
from millrace.wording import counted
from millrace_cli.checkpoints.copying import CopyPlan
from millrace_cli.checkpoints.reading import COMMITS, OFFSETS, Checkpoint
from millrace_cli.checkpoints.sources import parse_kafka_offset
from millrace_cli.checkpoints.state import parse_state_file, stores_without

_FORMS = '{"orders": {"0": 42}}, or topic:orders,partition:0,offset:42;topic:orders,partition:1,offset:300'
_ENTRY = re.compile(r"(?:topic:(?P<topic>[\w.-]+),)?partition:(?P<partition>\d+),offset:(?P<offset>\d+)", re.ASCII)

Read = Mapping[tuple[str, TopicPartition], int]
"""The position of each source of a query in its partitions."""

FindOffsets = Callable[[Offsets], Mapping[TopicPartition, int]]
"""Returns where partitions are to go on, of those that are read; the others stay where they are."""


def parse_targets(text: str, topics: set[str]) -> dict[TopicPartition, int]:
    """Parse offsets as options take them, as JSON by topic and partition, or as a list of entries.

    Args:
        text: The text.
        topics: The topics that are read; with only one of them, entries need not name it.

    Raises:
        ValueError: It is not written like this.
    """
    if text.lstrip().startswith("{"):
        positions = parse_kafka_offset(text)
        if positions is None or min(positions.values()) < 0:
            raise ValueError(f"expected offsets from 0 by topic and partition, such as {_FORMS}; got {text!r}")
        return dict(positions)
    targets = {}
    for entry in filter(None, map(str.strip, text.split(";"))):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise ValueError(f"expected offsets such as {_FORMS}; got {entry!r}")
        if match["topic"] is None and len(topics) != 1:
            raise ValueError(f"name the topic of each offset, as in {_FORMS}; the query reads {len(topics)} topics")
        topic = match["topic"] or next(iter(topics))
        targets[TopicPartition(topic, int(match["partition"]))] = int(match["offset"])
    return targets


def plan_rewind(checkpoint: Checkpoint, find: FindOffsets) -> CopyPlan:
    """Plan a copy that goes on at earlier offsets.

    Args:
        checkpoint: The original.
        find: Returns the offsets.

    Raises:
        MillraceError: The query does not read with millrace, nothing is complete, an offset is of no partition that is
            read or is not read yet, or the state before the offsets is not there any more.
    """
    done = checkpoint.point.done
    if done is None:
        raise MillraceError("the query has completed no micro-batch yet: it begins where its options say")
    read = _positions(checkpoint, done)
    if not read:
        raise MillraceError(
            f"the query of the checkpoint {checkpoint.store.location} has read nothing with millrace. One of Spark's "
            f"own Kafka connector must be imported first"
        )
    targets = find(_farthest(read))
    _check_targets(targets, _farthest(read))
    wanted = {(source, at): min(targets.get(at, offset), offset) for (source, at), offset in read.items()}
    if any(parse_state_file(path) for path in checkpoint.files):
        batch = _last_before(checkpoint, wanted)
        plan = _until(checkpoint, batch)
    else:
        batch = done
        plan = _at_offsets(_until(checkpoint, done), done, checkpoint.entries[done], wanted)
    begin = _positions(checkpoint, batch) if batch != done else wanted
    return plan.with_new_query(batch).with_notes(*_notes(batch, done), _repeated(begin, read))


def _farthest(read: Read) -> dict[TopicPartition, int]:
    """Return how far partitions are read, which several sources of a query may read."""
    farthest: dict[TopicPartition, int] = {}
    for (_, partition), offset in read.items():
        farthest[partition] = max(offset, farthest.get(partition, 0))
    return farthest


def _check_targets(targets: Offsets, read: Offsets) -> None:
    for partition, offset in sorted(targets.items()):
        if partition not in read:
            listed = ", ".join(map(str, sorted(read)[:10]))
            raise MillraceError(f"--to: the query has read nothing of {partition}; it reads {listed}")
        if offset > read[partition]:
            raise MillraceError(
                f"--to: the query has read {partition} up to offset {read[partition]}; offset {offset} is behind that, "
                f"so that records would be skipped. Give an offset of at most {read[partition]}"
            )


def _last_before(checkpoint: Checkpoint, wanted: Read) -> int:
    """Return the last complete micro-batch that ends at or before offsets, and whose state is still there.

    Raises:
        MillraceError: There is none.
    """
    for batch in sorted(checkpoint.entries, reverse=True):
        # Spark restarts by the file of the micro-batch before it, too
        has_logs = f"{COMMITS}/{batch}" in checkpoint.files and (batch == 0 or batch - 1 in checkpoint.entries)
        ends = _positions(checkpoint, batch)
        is_before = all(ends.get(place, 0) <= offset for place, offset in wanted.items())
        if has_logs and is_before and not stores_without(checkpoint.files, batch + 1):
            return batch
    raise MillraceError(
        f"--to: the query has state, which can go back with it only to the end of a micro-batch, and there is none at "
        f"or before these offsets whose state is still there: the checkpoint has micro-batches "
        f"{min(checkpoint.entries)} to {max(checkpoint.entries)} (spark.sql.streaming.minBatchesToRetain). Give later "
        f"offsets, or begin with a new checkpoint location"
    )


def _positions(checkpoint: Checkpoint, batch: int) -> dict[tuple[str, TopicPartition], int]:
    offsets = checkpoint.entries[batch].stream_offsets().items()
    return {(source, at): position for source, offset in offsets for at, position in offset.positions.items()}


def _at_offsets(plan: CopyPlan, batch: int, entry: OffsetLogEntry, wanted: Read) -> CopyPlan:
    changed = {}
    for source, offset in entry.stream_offsets().items():
        positions = {at: wanted[source, at] for at in offset.positions}
        # They are of use only when the micro-batch itself is repeated
        moved = replace(offset, positions=positions, start_overrides={}, discovered={})
        changed[source] = json.dumps(moved.to_json())
    return plan.with_entry(batch, replace(entry, sources={**entry.sources, **changed}))


def _until(checkpoint: Checkpoint, batch: int) -> CopyPlan:
    """Plan a copy without the logs and the state of all micro-batches after one."""
    return CopyPlan.of(checkpoint).without({path for path in checkpoint.files if _is_after(path, batch)})


def _is_after(path: str, batch: int) -> bool:
    folder, _, name = path.removesuffix(".crc").rpartition("/")
    name = name.removeprefix(".")
    state = parse_state_file(f"{folder}/{name}")
    if state is not None:
        return state.version > batch + 1
    return folder in (OFFSETS, COMMITS) and name.isdecimal() and int(name) > batch


def _notes(batch: int, done: int) -> list[str]:
    if batch == done:
        return []
    return [
        f"the state goes back with the query, to the end of micro-batch {batch}, the last one before the offsets",
        f"the next micro-batch is {batch + 1} again: a sink that leaves out the numbers that it has seen, such as "
        f"Spark's sink of files, needs a new place",
    ]


def _repeated(begin: Read, end: Read) -> str:
    count = sum(offset - begin.get(place, 0) for place, offset in end.items())
    again = [
        f"{place[1]} [{begin.get(place, 0)}, {offset})"
        for place, offset in sorted(end.items())
        if begin.get(place, 0) < offset
    ]
    if not again:
        return "nothing is read again"
    return f"read again: {counted(count, 'offset')}, {'; '.join(again[:10])}{' ...' if len(again) > 10 else ''}"
