"""The checkpoint of a query that reads with Spark's own Kafka connector, as one of millrace.

Spark keeps nothing else of a source than its offsets: state, watermarks, commits and settings belong to the query, and
go on with another source as long as the query's operators and the types of their columns are the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from millrace.checkpoint import Offsets, StreamOffset
from millrace.errors import MillraceError
from millrace.offset_log import NO_OFFSET, OffsetLogEntry
from millrace_cli.checkpoints.copying import CopyPlan
from millrace_cli.checkpoints.reading import Checkpoint
from millrace_cli.checkpoints.sources import describe_kind, parse_initial_offset, parse_kafka_offset


def plan_import(checkpoint: Checkpoint, wanted: Collection[str] = ()) -> CopyPlan:
    """Plan a copy whose sources of Spark's own Kafka connector are sources of millrace.

    Args:
        checkpoint: The original.
        wanted: The names or numbers of the sources; by default all of Spark's own Kafka connector.

    Raises:
        MillraceError: One is of another kind, or its offsets cannot be translated.
    """
    sources = _choose_sources(checkpoint, wanted)
    plan = CopyPlan.of(checkpoint)
    before: Mapping[str, Offsets] = {}
    for batch, entry in checkpoint.entries.items():
        if batch == 0:
            before = _initial_offsets(checkpoint, sources)
        translated = {source: _translate(entry, source, before, batch) for source in sources if source in entry.sources}
        plan = plan.with_entry(batch, _with_offsets(entry, translated))
        before = {source: offset.positions for source, offset in translated.items() if offset is not None}
    return plan.with_sink_note(checkpoint.query, checkpoint.point.done)


def _choose_sources(checkpoint: Checkpoint, wanted: Collection[str]) -> list[str]:
    kinds = {source: describe_kind(text) for source, text in checkpoint.last.sources.items()}
    unknown = [source for source in wanted if source not in kinds]
    if unknown:
        raise MillraceError(f"--source: the query has no source {unknown[0]!r}; its sources are {', '.join(kinds)}")
    chosen = list(wanted) or [source for source, text in checkpoint.last.sources.items() if parse_kafka_offset(text)]
    listed = "; ".join(f"source {source}: {kind}" for source, kind in kinds.items())
    if not chosen:
        hint = " It is one of millrace already" if "millrace" in kinds.values() else ""
        raise MillraceError(
            f"the checkpoint {checkpoint.store.location} is of no query that reads with Spark's own Kafka connector "
            f"({listed}).{hint}"
        )
    wrong = [source for source in chosen if parse_kafka_offset(checkpoint.last.sources[source]) is None]
    if wrong:
        raise MillraceError(
            f"--source: source {wrong[0]!r} cannot be translated, since its offset {checkpoint.last.sources[wrong[0]]} "
            f"is none of Spark's own Kafka connector ({listed}). Leave it out: it stays as it is"
        )
    return chosen


def _translate(entry: OffsetLogEntry, source: str, before: Mapping[str, Offsets], batch: int) -> StreamOffset | None:
    text = entry.sources[source]
    if text == NO_OFFSET:
        return None
    positions = parse_kafka_offset(text)
    if positions is None or min(positions.values(), default=0) < 0:
        raise MillraceError(
            f"the offset of source {source} in micro-batch {batch} cannot be translated: expected offsets from 0 by "
            f"topic and partition, found {text}"
        )
    if source not in before:
        return StreamOffset(positions)
    known = before[source]
    # Spark's connector begins new partitions at 0, and the first micro-batch where it has written down
    return StreamOffset(positions, {at: known.get(at, 0) for at in positions if batch == 0 or at not in known})


def _initial_offsets(checkpoint: Checkpoint, sources: Collection[str]) -> dict[str, Offsets]:
    """Return where sources began, by source.

    Raises:
        MillraceError: The first micro-batch is to be repeated, and one has not written that down.
    """
    offsets = {}
    for source in sources:
        path = f"sources/{source}/0"
        offset = parse_initial_offset(checkpoint.store.read(path)) if path in checkpoint.files else None
        if offset is not None:
            offsets[source] = offset
        elif checkpoint.point.repeated == 0:
            raise MillraceError(
                f"micro-batch 0 cannot be translated: the checkpoint {checkpoint.store.location} does not say where "
                f"source {source} began. Expected the offsets of Spark's own Kafka connector in its file {path!r}"
            )
    return offsets


def _with_offsets(entry: OffsetLogEntry, translated: Mapping[str, StreamOffset | None]) -> OffsetLogEntry:
    texts = {source: json.dumps(offset.to_json()) for source, offset in translated.items() if offset is not None}
    return OffsetLogEntry(entry.version, entry.metadata, {**entry.sources, **texts})
