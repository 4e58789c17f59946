"""Changed copies of checkpoints: planned file by file, and published in one step.

A local disk and HDFS rename a whole folder at once: the copy is made beside its place, under another name. An object
store cannot. There, the newest file of the copy's offset log first holds a text that Spark refuses to start with, and
is replaced when all others are there, which is one step too.
"""

from __future__ import annotations

import json
import posixpath
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from millrace.errors import MillraceError
from millrace.offset_log import INCOMPLETE, OffsetLogEntry
from millrace.sink.committer.checkpoint_evidence import NOTE, copied_note
from millrace_cli.checkpoints.reading import COMMITS, METADATA, OFFSETS, Checkpoint, batches_in
from millrace_cli.checkpoints.store import CheckpointStore

_AT_ONCE = 16
"""Files that are copied at the same time, since object stores answer slowly."""


@dataclass(frozen=True)
class CopyPlan:
    """The files of a copy.

    Attributes:
        copied: The paths of files in the original that are copied as they are, by their paths in the copy.
        written: The texts of the others, by their paths in the copy.
        notes: What the user should know of the copy, a sentence each.
    """

    copied: Mapping[str, str]
    written: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> CopyPlan:
        """Plan a copy without changes; what Spark had not finished writing is left out."""
        return cls({path: path for path in checkpoint.files if not _is_draft(path)}, {})

    def with_text(self, path: str, text: str) -> CopyPlan:
        """Replace the text of a file, whose checksums are left out then."""
        folder, name = posixpath.split(path)
        # Hadoop's on local disks, and Spark's own
        checksums = {posixpath.join(folder, f".{name}.crc"), f"{path}.crc"}
        copied = {
            target: origin for target, origin in self.copied.items() if target != path and target not in checksums
        }
        return replace(self, copied=copied, written={**self.written, path: text})

    def with_entry(self, batch: int, entry: OffsetLogEntry) -> CopyPlan:
        """Replace a file of the offset log."""
        return self.with_text(f"{OFFSETS}/{batch}", entry.to_text())

    def with_new_query(self, batch: int | None) -> CopyPlan:
        """Give the query another id, so that sinks do not take its micro-batches for those that they have already.

        Args:
            batch: The last micro-batch that is complete; None before the first one.
        """
        query = str(uuid.uuid4())
        plan = self.with_text(METADATA, json.dumps({"id": query}, separators=(",", ":"))).without({NOTE})
        return plan.with_sink_note(query, batch)

    def with_sink_note(self, query: str, batch: int | None) -> CopyPlan:
        """Tell exactly-once sinks that no micro-batch after one was begun, unless the original tells them more."""
        return self if batch is None or NOTE in self.copied else self.with_text(NOTE, copied_note(query, batch))

    def without(self, paths: set[str]) -> CopyPlan:
        """Leave files out."""
        return replace(self, copied={path: origin for path, origin in self.copied.items() if path not in paths})

    def renamed(self, rename: Callable[[str], str]) -> CopyPlan:
        """Rename files of the copy."""
        return replace(self, copied={rename(path): origin for path, origin in self.copied.items()})

    def with_notes(self, *notes: str) -> CopyPlan:
        """Add notes."""
        return replace(self, notes=(*self.notes, *notes))


def require_complete(checkpoint: Checkpoint, *, may_repeat: bool, effect: str) -> None:
    """Check that the last micro-batch is complete, or that the user accepts that its records are read again.

    Args:
        checkpoint: The checkpoint.
        may_repeat: Whether the user accepts it.
        effect: What the copy does with the records of the micro-batch that is not complete.

    Raises:
        MillraceError: It is not, and he does not.
    """
    if checkpoint.point.repeated is None or may_repeat:
        return
    ranges = checkpoint.repeated_ranges()
    records = f" ({'; '.join(ranges[:10])}{' ...' if len(ranges) > 10 else ''})" if ranges else ""
    raise MillraceError(
        f"micro-batch {checkpoint.point.repeated} of the query is not complete: its records{records} were being "
        f"processed when the query ended, and may be written already. Start the query once more and stop it when it "
        f"has nothing to do, for instance with trigger(availableNow=True); or give --repeat-uncommitted, with which "
        f"{effect}"
    )


def copy_checkpoint(checkpoint: Checkpoint, plan: CopyPlan, target: CheckpointStore) -> None:
    """Make a copy: either whole or not at all, also if the process is killed.

    Args:
        checkpoint: The original, which is only read.
        plan: The files of the copy.
        target: The folder of the copy, which must be missing or empty.

    Raises:
        MillraceError: There is something in the folder, the original changes meanwhile, or files cannot be copied.
    """
    if target.list_files():
        raise MillraceError(f"{target.location} exists already: give a new folder for the copy")
    if target.has_rename:
        _copy_and_rename(checkpoint, plan, target)
    else:
        _copy_and_unlock(checkpoint, plan, target)


def _copy_and_rename(checkpoint: Checkpoint, plan: CopyPlan, target: CheckpointStore) -> None:
    draft = target.draft()
    try:
        _copy_files(checkpoint, plan, draft)
        _check_unchanged(checkpoint)
        draft.become(target)
    except BaseException:
        with suppress(MillraceError):
            draft.delete()
        raise


def _copy_and_unlock(checkpoint: Checkpoint, plan: CopyPlan, target: CheckpointStore) -> None:
    paths = [*plan.copied, *plan.written]
    last = f"{OFFSETS}/{max(batches_in(paths, OFFSETS))}"
    text = plan.written[last] if last in plan.written else checkpoint.store.read(plan.copied[last])
    try:
        target.write(last, f"{INCOMPLETE}\n")
        _copy_files(checkpoint, plan.with_text(last, f"{INCOMPLETE}\n"), target)
        _check_unchanged(checkpoint)
    except BaseException:
        with suppress(MillraceError):
            target.delete()
        raise
    target.write(last, text)


def _copy_files(checkpoint: Checkpoint, plan: CopyPlan, target: CheckpointStore) -> None:
    with ThreadPoolExecutor(_AT_ONCE, "millrace-copy") as pool:
        copies = ((origin, path) for path, origin in plan.copied.items())
        for _ in pool.map(lambda copy: target.copy_from(checkpoint.store, *copy), copies):
            pass
    for path, text in plan.written.items():
        target.write(path, text)


def _check_unchanged(checkpoint: Checkpoint) -> None:
    for log in (OFFSETS, COMMITS):
        before = batches_in(checkpoint.files, log)
        now = sorted(int(name) for name in checkpoint.store.names(log) if name.isdecimal())
        if now != before:
            raise MillraceError(
                f"the checkpoint {checkpoint.store.location} changes while it is copied: stop its query first"
            )


def _is_draft(path: str) -> bool:
    """Return whether Spark writes a file under this name before it gives it the right one."""
    name = posixpath.basename(path)
    return name.endswith((".tmp", ".tmp.crc"))
