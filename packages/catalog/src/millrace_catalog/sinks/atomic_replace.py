"""Files of a folder that are replaced by others, such that it is finished though the process is killed at any point.

What is to be done is written down first: ``{"v":1,"remove":["0-columns-1.parquet"],"add":["0-columns-2.parquet"]}``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from millrace_catalog.sinks.table_sink import TargetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from millrace_catalog.jvm.folder import Folder

_VERSION = 1

HIDDEN = "_millrace"
"""Where files are made; neither Spark nor other readers look into folders with such a name."""

NEW = f"{HIDDEN}/new"
"""Where the files are that come by a swap."""

_MANIFEST = f"{HIDDEN}/swap.json"
_BEGUN = f"{HIDDEN}/swap.begun"


def swap(folder: Folder, remove: Sequence[str], add: Sequence[str]) -> None:
    """Put the files ``add`` of `NEW` in the place of the files ``remove``."""
    folder.write(_BEGUN, json.dumps({"v": _VERSION, "remove": list(remove), "add": list(add)}))
    folder.move(_BEGUN, _MANIFEST)
    finish(folder)


def finish(folder: Folder) -> None:
    """Do what is left of a swap, and clear away what was only begun.

    Raises:
        TargetError: A newer millrace has begun it.
    """
    if folder.exists(_MANIFEST):
        _carry_out(folder, json.loads(folder.read(_MANIFEST)))
        folder.delete(_MANIFEST)
    folder.delete(HIDDEN)


def _carry_out(folder: Folder, manifest: dict[str, Any]) -> None:
    if manifest["v"] != _VERSION:
        raise TargetError(
            f"{folder.path(_MANIFEST)} has version {manifest['v']}, this millrace knows {_VERSION}: use the one that "
            f"wrote it, or a newer one"
        )
    # A reader sees rows missing for a moment, never twice
    for name in manifest["remove"]:
        folder.delete(name)
    for name in manifest["add"]:
        if folder.exists(f"{NEW}/{name}"):
            folder.move(f"{NEW}/{name}", name)
