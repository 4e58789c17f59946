"""Read in the checkpoint of a query where its next run goes on."""

from __future__ import annotations

from typing import NamedTuple

from millrace.checkpoint import StreamOffset
from millrace.checkpoint_folder import CheckpointFolder
from millrace.errors import MillraceError
from millrace.offset_log import OffsetLogEntry, find_restart_point
from millrace.options.connector import SourceOptions


class CheckpointState(NamedTuple):
    """The place where a query goes on.

    Attributes:
        batch: The number of its next micro-batch.
        start: How far it has read before; None where nothing of the source is done.
        repeated_end: The end of that micro-batch if it was begun and is repeated; None for a new one.
    """

    batch: int
    start: StreamOffset | None
    repeated_end: StreamOffset | None


def read_checkpoint(location: str, options: SourceOptions) -> CheckpointState | None:
    """Read where a query goes on; None where the folder has no checkpoint yet.

    Args:
        location: The folder of the checkpoint, as a path or a URI.
        options: The options of the source, which tell it from other sources of the query.

    Raises:
        MillraceError: The folder cannot be read, or the checkpoint is one of no source like this.
    """
    folder = CheckpointFolder(location)
    point = find_restart_point(_names(folder, "offsets", location), _names(folder, "commits", location))
    if point is None:
        return None
    before = None if point.done is None else _offset(folder, point.done, options, location)
    if point.repeated is None:
        return CheckpointState((point.done or 0) + 1, before, None)
    return CheckpointState(point.repeated, before, _offset(folder, point.repeated, options, location))


def _names(folder: CheckpointFolder, name: str, location: str) -> list[str]:
    try:
        return folder.names(name)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MillraceError(f"the checkpoint {location} cannot be read: {error}") from error


def _offset(folder: CheckpointFolder, batch: int, options: SourceOptions, location: str) -> StreamOffset | None:
    try:
        offsets = list(OffsetLogEntry.parse(folder.read(f"offsets/{batch}")).stream_offsets().values())
    except OSError as error:
        raise MillraceError(f"the checkpoint {location} cannot be read: {error}") from error
    named = {*options.topics, *(topic for topic, _ in options.partitions)}
    matching = [offset for offset in offsets if named & {partition.topic for partition in offset.positions}]
    if not offsets:
        raise MillraceError(f"the checkpoint {location} is of no query that reads with millrace")
    # One that reads other topics is for the planner to refuse
    return (matching or offsets)[0]
