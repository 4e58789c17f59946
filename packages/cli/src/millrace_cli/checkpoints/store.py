"""The files of a checkpoint's folder, on local disks, in HDFS and in object stores that Arrow has a client for."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import pyarrow as pa
from pyarrow import fs

from millrace.checkpoint_folder import open_location
from millrace.errors import MillraceError

_DRAFT = ".incomplete"
_PIECE_BYTES = 4 << 20


class CheckpointStore:
    """All files of a checkpoint's folder, by their paths in it.

    Args:
        location: The folder, as a path or a URI, as Spark takes it.

    Raises:
        MillraceError: Its file system cannot be used.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        with self._errors("opening"):
            self._fs, root = open_location(location)
        self._root = root.rstrip("/")
        self._has_folders = self._fs.type_name in ("local", "hdfs")
        self._made: set[str] = set()

    @property
    def has_rename(self) -> bool:
        """True if a whole folder gets its name in one step, which object stores cannot do."""
        return self._has_folders

    def draft(self) -> CheckpointStore:
        """Return a folder beside this one, for a copy that gets this one's name when it is complete."""
        location = self.location.rstrip("/")
        parent, slash, name = location.rpartition("/")
        return CheckpointStore(f"{parent}{slash}.{name}.{uuid.uuid4().hex[:8]}{_DRAFT}")

    def drafts(self) -> list[str]:
        """Return the folders of copies for this one that are not complete: under way, or left by a killed process."""
        if not self.has_rename:
            return []
        parent, name = posixpath.split(self._root)
        with self._errors("reading"):
            infos = self._fs.get_file_info(fs.FileSelector(parent, allow_not_found=True))
        return sorted(
            info.path for info in infos if info.base_name.startswith(f".{name}.") and info.base_name.endswith(_DRAFT)
        )

    def list_files(self) -> dict[str, int]:
        """Return the sizes of all files in bytes, by their paths; none where the folder is missing."""
        with self._errors("reading"):
            infos = self._fs.get_file_info(fs.FileSelector(self._root, allow_not_found=True, recursive=True))
            return {
                posixpath.relpath(info.path, self._root): info.size for info in infos if info.type == fs.FileType.File
            }

    def names(self, folder: str) -> list[str]:
        """List the names in a folder; none where it is missing."""
        with self._errors("reading"):
            infos = self._fs.get_file_info(fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True))
            return [info.base_name for info in infos]

    def read(self, name: str) -> str:
        """Read a text file."""
        with self._errors("reading"), self._fs.open_input_stream(self._path(name), compression=None) as stream:
            return bytes(stream.read()).decode(errors="replace")

    def write(self, name: str, text: str) -> None:
        """Create or replace a text file."""
        with self._errors("writing"), self._new_file(name) as sink:
            sink.write(text.encode())

    def copy_from(self, other: Self, name_there: str, name: str) -> None:
        """Copy a file of another checkpoint."""
        with self._errors("writing"), self._new_file(name) as sink:
            for piece in other._read_pieces(name_there):
                sink.write(piece)

    def become(self, target: Self) -> None:
        """Give this folder the name of another one of the same file system, which is empty or missing."""
        with self._errors("renaming"):
            if self._fs.get_file_info(target._root).type == fs.FileType.Directory:
                # A rename would put this folder into it
                self._fs.delete_dir(target._root)
            self._fs.move(self._root, target._root)

    def delete(self) -> None:
        """Delete the folder and all its files."""
        with self._errors("deleting"):
            if self._fs.get_file_info(self._root).type == fs.FileType.Directory:
                self._fs.delete_dir(self._root)

    def _read_pieces(self, name: str) -> Iterator[bytes]:
        with self._errors("reading"), self._fs.open_input_stream(self._path(name), compression=None) as stream:
            while piece := stream.read(_PIECE_BYTES):
                yield piece

    def _new_file(self, name: str) -> pa.NativeFile:
        path = self._path(name)
        folder = posixpath.dirname(path)
        if self._has_folders and folder not in self._made:
            self._fs.create_dir(folder, recursive=True)
            self._made.add(folder)
        return self._fs.open_output_stream(path, compression=None)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException, NotImplementedError, ValueError) as error:
            raise MillraceError(
                f"{doing} the checkpoint {self.location} failed: {error}. Give a path, or a URI such as "
                f"'s3://bucket/path', 'gs://bucket/path' or 'hdfs://namenode/path' that this machine reaches"
            ) from error
