"""Keep state in LMDB, a memory-mapped B+ tree that processes share: https://www.symas.com/lmdb.

A reader never waits, and sees the tree as it was when it began. Nothing is flushed to the disk: the operating system
keeps what killed processes have written, and files from before the machine started are not used.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from weakref import WeakValueDictionary

import lmdb
from annotated_types import Gt

from millrace.contracts import KeyedStore, StateBackend, StateView, StateWriter
from millrace.errors import MachineError
from millrace.options import option

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MARKER = b"marker"
_MIN_FREE_BYTES = 256 << 20
"""Bytes: a write into a mapped file ends the process where the disk is full, so that some room is asked for before."""

_UNUSED_S = 3 * 86_400
"""Seconds after which a store that nobody has opened is deleted: its query has ended, or will restore it."""

_open_stores: WeakValueDictionary[Path, LmdbStore] = WeakValueDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class LmdbOptions:
    """The options of the backend."""

    local_dir: str | None = option(
        "local-dir",
        default=None,
        doc="The folder for the files, on a fast local disk of the executors. By default one in the folder of "
        "temporary files.",
    )
    max_size: Annotated[int, Gt(0)] = option(
        "max-size",
        default=64 << 30,
        doc="The largest size of the file of a partition, in bytes. It takes only the room that its rows need.",
    )


class LmdbBackend(StateBackend):
    """Keep each store in a folder of its own."""

    Options = LmdbOptions

    def open(self, name: str) -> LmdbStore:
        """Open the store of a name: see `StateBackend.open`."""
        folder = self._folder(name)
        with _lock:
            # LMDB lets a process open a file once
            store = _open_stores.get(folder)
            if store is None or not folder.is_dir():
                _delete_unused(folder.parent)
                store = _open_stores[folder] = LmdbStore(folder, self.options.max_size)
            return store

    def remove(self, name: str) -> None:
        """Remove the store of a name: see `StateBackend.remove`."""
        folder = self._folder(name)
        with _lock:
            _open_stores.pop(folder, None)
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, name: str) -> Path:
        parent = Path(self.options.local_dir or Path(tempfile.gettempdir()) / f"millrace-state-{os.getuid()}")
        return parent.resolve() / name


class LmdbStore(KeyedStore):
    """A store in a folder, which is created if it is not there.

    Args:
        folder: The folder.
        max_size: The largest size of its file, in bytes.

    Raises:
        MachineError: The folder cannot be written.
    """

    def __init__(self, folder: Path, max_size: int) -> None:
        boot = _boot_id()
        try:
            with suppress(FileNotFoundError):
                if (folder / "boot").read_text() != boot:
                    # What had not reached the disk when the machine stopped is lost
                    shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace_text(folder / "boot", boot)
            is_volatile = bool(boot)
            self._env = lmdb.open(
                str(folder),
                map_size=max_size,
                max_dbs=2,
                writemap=is_volatile,
                sync=not is_volatile,
                metasync=not is_volatile,
                readahead=False,
            )
            self._meta, self._rows = (self._env.open_db(name) for name in (b"meta", b"rows"))
        except (OSError, lmdb.Error) as error:
            raise MachineError(
                f"the state of a table cannot be kept in {str(folder)!r} ({error}): give another folder on a local "
                f"disk by option 'state.backend.local-dir'"
            ) from error
        self._folder = folder

    @contextmanager
    def view(self) -> Iterator[LmdbView]:
        """Yield a view: see `KeyedStore.view`."""
        with self._env.begin(db=self._rows) as transaction:
            yield LmdbView(self._env, transaction, self._meta, self._rows)

    @contextmanager
    def writer(self) -> Iterator[LmdbWriter]:
        """Yield a writer: see `KeyedStore.writer`."""
        if shutil.disk_usage(self._folder).free < _MIN_FREE_BYTES:
            raise MachineError(_no_room(self._folder, "its disk is full"))
        # Views of killed processes would keep what was replaced since
        self._env.reader_check()
        transaction = self._env.begin(write=True)
        try:
            yield LmdbWriter(transaction, self._meta, self._rows, self._folder)
        finally:
            transaction.abort()

    def __del__(self) -> None:
        with suppress(AttributeError):
            self._env.close()


class LmdbView(StateView):
    """A view: a transaction that reads, of the database of rows unless another one is given."""

    def __init__(self, env: Any, transaction: Any, meta: Any, rows: Any) -> None:
        self._env, self._transaction, self._meta, self._rows = env, transaction, meta, rows

    @property
    def marker(self) -> bytes | None:
        """The marker of the last commit: see `StateView.marker`."""
        return self._transaction.get(_MARKER, db=self._meta)

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of keys: see `StateView.get`."""
        # Faster than a cursor's `getmulti`, which returns the keys as well
        return list(map(self._transaction.get, keys))

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all values: see `StateView.items`."""
        with self._transaction.cursor(self._rows) as cursor:
            yield from cursor

    @property
    def size(self) -> int:
        """The number of keys: see `StateView.size`."""
        return self._transaction.stat(self._rows)["entries"]

    @property
    def size_bytes(self) -> int:
        """The part of the file that was ever written: see `StateView.size_bytes`."""
        return (self._env.info()["last_pgno"] + 1) * self._env.stat()["psize"]


class LmdbWriter(StateWriter):
    """A writer: a transaction that writes."""

    def __init__(self, transaction: Any, meta: Any, rows: Any, folder: Path) -> None:
        self._transaction, self._meta, self._rows, self._folder = transaction, meta, rows, folder

    @property
    def marker(self) -> bytes | None:
        """The marker of the last commit: see `StateWriter.marker`."""
        return self._transaction.get(_MARKER, db=self._meta)

    def put(self, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Set the values of keys: see `StateWriter.put`."""
        values = [change for change in changes if change[1] is not None]
        removed = [key for key, value in changes if value is None] if len(values) < len(changes) else ()
        with self._full_disk_errors():
            with self._transaction.cursor(self._rows) as cursor:
                cursor.putmulti(values)
            for key in removed:
                self._transaction.delete(key, db=self._rows)

    def clear(self) -> None:
        """Remove all keys: see `StateWriter.clear`."""
        with self._full_disk_errors():
            self._transaction.drop(self._rows, delete=False)

    def commit(self, marker: bytes) -> None:
        """Make the changes visible: see `StateWriter.commit`."""
        with self._full_disk_errors():
            self._transaction.put(_MARKER, marker, db=self._meta)
            self._transaction.commit()

    @contextmanager
    def _full_disk_errors(self) -> Iterator[None]:
        try:
            yield
        except lmdb.MapFullError as error:
            reason = "it is larger than option 'state.backend.max-size' allows"
            raise MachineError(_no_room(self._folder, reason)) from error
        except lmdb.DiskError as error:
            raise MachineError(_no_room(self._folder, str(error))) from error


def _replace_text(file: Path, text: str) -> None:
    # Another process may read it at any moment, and takes a part of it for the text of another start
    written = file.with_suffix(f".{os.getpid()}")
    written.write_text(text)
    written.replace(file)


def _no_room(folder: Path, reason: str) -> str:
    return (
        f"the state of a table has no room in {str(folder)!r}: {reason}. Make room, or give another folder by option "
        f"'state.backend.local-dir'"
    )


def _delete_unused(parent: Path) -> None:
    """Delete the stores of queries that have ended; processes that have one open go on with it."""
    for store in parent.glob("*/boot"):
        with suppress(OSError):
            if time.time() - store.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(store.parent, ignore_errors=True)


def _forget_stores() -> None:
    _open_stores.clear()


# LMDB forbids a forked process to use what its parent has opened
os.register_at_fork(after_in_child=_forget_stores)


def _boot_id() -> str:
    """Return another text each time that the machine starts; empty where it has none, so that writes are flushed."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
