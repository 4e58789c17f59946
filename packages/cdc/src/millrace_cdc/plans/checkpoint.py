"""Read in a checkpoint where the next run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import nest_by_topic
from millrace.offset_log import CheckpointFiles, OffsetLogEntry, find_restart_point
from millrace_catalog.jvm import HadoopFolder
from millrace_cdc.plans.model import PlannedStart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def find_start(session: Callable[[], SparkSession], location: str) -> PlannedStart | None:
    """Return where a run with a checkpoint goes on; None where there is none yet.

    Args:
        session: Returns a session; a checkpoint on this machine that is missing needs none.
        location: Location of the checkpoint.
    """
    if "://" not in location and not Path(location).exists():
        return None
    return read_start(HadoopFolder(session(), location), location)


def read_start(folder: CheckpointFiles, location: str) -> PlannedStart | None:
    """Return where a run goes on by the files of a checkpoint; None where no micro-batch was begun."""
    point = find_restart_point(folder.names("offsets"), folder.names("commits"))
    if point is None:
        return None
    offsets = {} if point.done is None else _offsets(folder.read(f"offsets/{point.done}"))
    return PlannedStart(location, point.done, point.repeated is not None, offsets)


def _offsets(text: str) -> dict[str, Any]:
    entry = OffsetLogEntry.parse(text)
    for offset in entry.stream_offsets().values():
        return nest_by_topic(offset.positions)
    # The position of a source of tables, or nothing of one that has had no rows
    for logged in entry.sources.values():
        with suppress(ValueError):
            position = json.loads(logged)
            return position if isinstance(position, dict) else {}
    return {}
