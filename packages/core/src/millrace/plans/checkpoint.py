"""Read in the checkpoint of a query where its next run goes on."""

from __future__ import annotations

from typing import NamedTuple

from millrace.checkpoint import StreamOffset, batch_before, parse_offset_log
from millrace.errors import MillraceError
from millrace.options.connector import SourceOptions
from millrace.sink.committer.checkpoint_folder import CheckpointFolder


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
    begun, done = _numbers(folder, "offsets", location), _numbers(folder, "commits", location)
    if not begun:
        return None
    last = max(begun)
    if last in done:
        return CheckpointState(last + 1, _offset(folder, last, options, location), None)
    previous = batch_before(last, begun)
    before = None if previous is None else _offset(folder, previous, options, location)
    return CheckpointState(last, before, _offset(folder, last, options, location))


def _numbers(folder: CheckpointFolder, name: str, location: str) -> set[int]:
    try:
        return {int(each) for each in folder.names(name) if each.isdigit()}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise MillraceError(f"the checkpoint {location} cannot be read: {error}") from error


def _offset(folder: CheckpointFolder, batch: int, options: SourceOptions, location: str) -> StreamOffset | None:
    try:
        found = list(parse_offset_log(folder.read(f"offsets/{batch}")).values())
    except OSError as error:
        raise MillraceError(f"the checkpoint {location} cannot be read: {error}") from error
    named = {*options.topics, *(topic for topic, _ in options.partitions)}
    matching = [each for each in found if named & {partition.topic for partition in each.positions}]
    if not found:
        raise MillraceError(f"the checkpoint {location} is of no query that reads with millrace")
    # One that reads other topics is for the planner to refuse
    return (matching or found)[0]
