"""Read in a checkpoint where the next run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import logged_sources, nest_by_topic, parse_offset_log
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
    folder = HadoopFolder(session(), location)
    begun, done = (_numbers(folder, name) for name in ("offsets", "commits"))
    if not begun:
        return None
    batch = max(set(begun) & set(done), default=None)
    offsets = {} if batch is None else _offsets(folder.read(f"offsets/{batch}"))
    return PlannedStart(location, batch, max(begun) > (-1 if batch is None else batch), offsets)


def _numbers(folder: HadoopFolder, name: str) -> list[int]:
    return [int(each) for each in folder.names(name) if each.isdigit()]


def _offsets(text: str) -> dict[str, Any]:
    for offset in parse_offset_log(text).values():
        return nest_by_topic(offset.positions)
    (*_, last) = logged_sources(text).values()
    found = json.loads(last)
    return found if isinstance(found, dict) else {}
