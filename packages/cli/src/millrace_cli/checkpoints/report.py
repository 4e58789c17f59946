"""Description of a checkpoint for people and programs: sources, micro-batches, state, and what a restart reads."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

from millrace.checkpoint import StreamOffset, nest_by_topic
from millrace.wording import counted
from millrace_cli.checkpoints.reading import Checkpoint
from millrace_cli.checkpoints.sources import describe_kind, parse_logged_offset, positions_of
from millrace_cli.checkpoints.state import find_operators
from millrace_cli.tables import printable, time_text

_SHOWN_PARTITIONS = 50


def to_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return a checkpoint as one object of JSON."""
    done, repeated = checkpoint.point
    planned = None if done is None else checkpoint.entries[done].planning_time()
    return {
        "location": checkpoint.store.location,
        "query": checkpoint.query,
        "micro_batches": {
            "first": min(checkpoint.entries),
            "last": max(checkpoint.entries),
            "complete": done,
            "planned": None if planned is None else _time(planned),
        },
        "restart": {
            "micro_batch": checkpoint.next_batch,
            "repeats": repeated is not None,
            "ranges": checkpoint.repeated_ranges(),
        },
        "watermark": _watermark(checkpoint.watermark_ms()),
        "sources": [_source(source, text) for source, text in checkpoint.last.sources.items()],
        "state": [
            {
                "operator": operator.number,
                "name": operator.name,
                "partitions": operator.partitions,
                "version": operator.version,
                "bytes": operator.size,
            }
            for operator in find_operators(checkpoint.store, checkpoint.files)
        ],
        "settings": _settings(checkpoint.last.metadata),
    }


def to_lines(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the lines that describe a checkpoint to people."""
    shown = to_json(checkpoint)
    batches, restart = shown["micro_batches"], shown["restart"]
    yield f"Query {shown['query']}"
    if batches["complete"] is None:
        yield "  no micro-batch is complete"
    else:
        planned = f", planned {batches['planned']}" if batches["planned"] else ""
        yield f"  complete up to micro-batch {batches['complete']}{planned}; the log begins with {batches['first']}"
    yield f"  watermark: {shown['watermark'] or 'none'}"
    yield f"  a restart {'repeats' if restart['repeats'] else 'begins'} micro-batch {restart['micro_batch']}"
    yield from (f"    {printable(range_)}" for range_ in restart["ranges"][:_SHOWN_PARTITIONS])
    yield ""
    for source in shown["sources"]:
        yield from _source_lines(source)
    if shown["state"]:
        yield "State"
        yield from map(_state_line, shown["state"])
        yield ""
    if shown["settings"]:
        yield "Settings that a restart keeps"
        yield from (f"  {printable(f'{name} = {value}')}" for name, value in sorted(shown["settings"].items()))


def _source(source: str, text: str) -> dict[str, Any]:
    offset = parse_logged_offset(text)
    described: dict[str, Any] = {"source": source, "kind": describe_kind(text)}
    if offset is None:
        return {**described, "offset": text}
    described["offsets"] = nest_by_topic(positions_of(offset))
    if isinstance(offset, StreamOffset) and offset.stopping_offsets:
        described["stops"] = nest_by_topic(offset.stopping_offsets)
    return described


def _source_lines(source: Mapping[str, Any]) -> Iterator[str]:
    yield printable(f"Source {source['source']}: {source['kind']}")
    if "offset" in source:
        yield f"  {printable(source['offset'])}"
    places = [
        (f"{topic}-{at}", n) for topic, partitions in source.get("offsets", {}).items() for at, n in partitions.items()
    ]
    yield from (f"  {printable(place)}: next offset {offset:,}" for place, offset in places[:_SHOWN_PARTITIONS])
    if len(places) > _SHOWN_PARTITIONS:
        yield f"  and {len(places) - _SHOWN_PARTITIONS} more partitions (--json shows all)"
    yield ""


def _state_line(state: Mapping[str, Any]) -> str:
    name = f" {state['name']}" if state["name"] else ""
    size = f"{counted(state['partitions'], 'partition')}, {state['bytes'] / 1e6:,.1f} MB"
    return f"  operator {state['operator']}{name}: {size}, version {state['version']}"


def _settings(metadata: str) -> dict[str, str]:
    try:
        settings = json.loads(metadata)["conf"]
    except (KeyError, TypeError, ValueError):
        return {}
    return dict(settings) if isinstance(settings, dict) else {}


def _watermark(millis: int) -> str | None:
    return _time(millis / 1000) if millis else None


def _time(seconds: float) -> str:
    return time_text(dt.datetime.fromtimestamp(seconds, dt.UTC))
