"""The state of a query's operators in its checkpoint, of which Spark's stores keep a version after each micro-batch.

The folder ``state`` has a folder for each operator, in it one for each partition, and in that one for each store that
is not the default one. Versions are full (``.snapshot``, ``.zip``), or changes since the version before (``.delta``,
``.changelog``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from millrace_cli.checkpoints.store import CheckpointStore

_VERSION_FILE = re.compile(
    r"(?P<store>state/(?P<operator>\d+)/(?P<partition>\d+)(?:/[^/]+)?)"
    r"/(?P<version>\d+)(?:_[^/.]+)?\.(?P<kind>snapshot|zip|delta|changelog)"
)
_OPERATOR_METADATA = re.compile(r"state/(?P<operator>\d+)/_metadata/(?:metadata|v2/\d+)")
_FULL = ("snapshot", "zip")


class StateVersion(NamedTuple):
    """A file of a state store.

    Attributes:
        store: The folder of the store.
        operator: The operator's number in the query.
        version: The number of micro-batches after which the state is this one.
        is_full: Whether it holds the whole state, or the changes since the version before.
    """

    store: str
    operator: int
    version: int
    is_full: bool


@dataclass(frozen=True)
class OperatorState:
    """The state of an operator.

    Attributes:
        number: Its number in the query.
        name: Its name, such as ``stateStoreSave``; empty where Spark has not written it down.
        partitions: The number of its partitions.
        size: The size of its files in bytes.
        version: Its newest version, which is the number of micro-batches that it has seen.
    """

    number: int
    name: str
    partitions: int
    size: int
    version: int


def parse_state_file(path: str) -> StateVersion | None:
    """Return what a file of a checkpoint holds of the state; None for other files."""
    match = _VERSION_FILE.fullmatch(path)
    if match is None:
        return None
    return StateVersion(match["store"], int(match["operator"]), int(match["version"]), match["kind"] in _FULL)


def find_operators(store: CheckpointStore, files: Mapping[str, int]) -> list[OperatorState]:
    """Return the operators of a query that have state."""
    versions = [(path, version) for path in files if (version := parse_state_file(path)) is not None]
    operators = []
    for number in sorted({version.operator for _, version in versions}):
        own = [version for _, version in versions if version.operator == number]
        size = sum(size for path, size in files.items() if path.startswith(f"state/{number}/"))
        partitions = len({version.store.split("/")[2] for version in own})
        name = _operator_name(store, files, number)
        operators.append(OperatorState(number, name, partitions, size, max(version.version for version in own)))
    return operators


def stores_without(paths: Iterable[str], version: int) -> list[str]:
    """Return the state stores that cannot be restored to a version, since files are deleted that it needs."""
    full: dict[str, set[int]] = {}
    changes: dict[str, set[int]] = {}
    for path in paths:
        if (file := parse_state_file(path)) is not None:
            (full if file.is_full else changes).setdefault(file.store, set()).add(file.version)
    stores = sorted({*full, *changes})
    return [store for store in stores if not _can_restore(full.get(store, set()), changes.get(store, set()), version)]


def _can_restore(full: set[int], changes: set[int], version: int) -> bool:
    base = max((snapshot for snapshot in full if snapshot <= version), default=0)
    return all(number in changes for number in range(base + 1, version + 1))


def _operator_name(store: CheckpointStore, files: Iterable[str], number: int) -> str:
    for path in files:
        match = _OPERATOR_METADATA.fullmatch(path)
        if match is not None and int(match["operator"]) == number:
            try:
                # A line of version comes first
                metadata: Any = json.loads(store.read(path).partition("\n")[2])
                return str(metadata["operatorInfo"]["operatorName"])
            except (KeyError, TypeError, ValueError):
                return ""
    return ""
