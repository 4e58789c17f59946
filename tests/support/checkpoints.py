"""Checkpoints as Spark writes them: made without a query, and looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

QUERY = "11111111-2222-3333-4444-555555555555"
PLANNED_MS = 1_795_814_626_412


class WrittenCheckpoint:
    """A checkpoint on disk.

    Args:
        folder: Its folder, which is created.
        names: The names of the sources in version 2 of the offset log; none for version 1.
    """

    def __init__(self, folder: Path, names: tuple[str, ...] = ()) -> None:
        self.folder, self._names = folder, names
        self.write("metadata", json.dumps({"id": QUERY}))

    def begin(self, batch: int, *offsets: object, watermark: int = 0) -> WrittenCheckpoint:
        """Plan a micro-batch that ends at offsets of its sources."""
        metadata = {"batchWatermarkMs": watermark, "batchTimestampMs": PLANNED_MS + batch, "conf": {"a.b": "c"}}
        texts = [each if isinstance(each, str) else json.dumps(each) for each in offsets]
        if self._names:
            texts = [f"{name}:{text}" for name, text in zip(self._names, texts, strict=True)]
        version = "v2" if self._names else "v1"
        return self.write(f"offsets/{batch}", "\n".join([version, json.dumps(metadata), *texts]))

    def commit(self, *batches: int, watermark: int = 0) -> WrittenCheckpoint:
        """Complete micro-batches."""
        for batch in batches:
            self.write(f"commits/{batch}", f'v1\n{{"nextBatchWatermarkMs":{watermark}}}')
        return self

    def keep_state(self, *versions: str, store: str = "0/0") -> WrittenCheckpoint:
        """Write the files of a state store, such as ``1.delta``."""
        for version in versions:
            self.write(f"state/{store}/{version}", version)
        return self

    def write(self, name: str, text: str) -> WrittenCheckpoint:
        """Write a file and the checksum that Hadoop writes beside it."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (file.parent / f".{file.name}.crc").write_bytes(b"crc\0")
        return self


def offsets_in(folder: Path, batch: int) -> dict[str, Any]:
    """Return the offsets of a file of the offset log, by source."""
    version, _, *lines = (folder / "offsets" / str(batch)).read_text().split("\n")
    named = (line.split(":", 1) for line in lines) if version == "v2" else enumerate(lines)
    return {str(name): json.loads(text) for name, text in named}


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files, by their paths."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def count_micro_batches(folder: Path) -> int:
    """Return how many micro-batches are complete; Spark keeps the files of the last ones only."""
    return max((int(file.name) + 1 for file in (folder / "commits").glob("[0-9]*")), default=0)


def forget_newest_commit(folder: Path) -> None:
    """Undo the newest commit, as if the driver had been killed before Spark took note of the micro-batch."""
    newest = count_micro_batches(folder) - 1
    (folder / "commits" / str(newest)).unlink()
    (folder / "commits" / f".{newest}.crc").unlink(missing_ok=True)
