"""Replace files of a folder by others, so that the replacement can be finished if the process is killed at any point.

A manifest is written first: ``{"v":1,"remove":["0-columns-1.parquet"],"add":["0-columns-2.parquet"]}``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from millrace_catalog.sinks.table_sink import TableSinkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from millrace_catalog.jvm import HadoopFolder

_VERSION = 1

HIDDEN = "_millrace"
"""Folder of unfinished files; Spark and other readers ignore folders with such names."""

NEW = f"{HIDDEN}/new"
"""Folder of the new files."""

_MANIFEST = f"{HIDDEN}/swap.json"
_BEGUN = f"{HIDDEN}/swap.begun"


def replace_files(folder: HadoopFolder, remove: Sequence[str], add: Sequence[str]) -> None:
    """Replace the files ``remove`` by the files ``add`` of folder `NEW`."""
    folder.write(_BEGUN, json.dumps({"v": _VERSION, "remove": list(remove), "add": list(add)}))
    folder.move(_BEGUN, _MANIFEST)
    finish_replacement(folder)


def finish_replacement(folder: HadoopFolder) -> None:
    """Finish a replacement that a killed process began, and delete what was not ready.

    Raises:
        TableSinkError: A newer millrace began the replacement.
    """
    if folder.exists(_MANIFEST):
        _replace(folder, json.loads(folder.read(_MANIFEST)))
        folder.delete(_MANIFEST)
    folder.delete(HIDDEN)


def _replace(folder: HadoopFolder, manifest: dict[str, Any]) -> None:
    if manifest["v"] != _VERSION:
        raise TableSinkError(
            f"{folder.path(_MANIFEST)} has version {manifest['v']}, and this millrace reads version {_VERSION}: "
            f"use the millrace that wrote it, or a newer one"
        )
    # Deletes come first, so that readers may miss rows for a moment but never see them twice
    for name in manifest["remove"]:
        folder.delete(name)
    for name in manifest["add"]:
        if folder.exists(f"{NEW}/{name}"):
            folder.move(f"{NEW}/{name}", name)
