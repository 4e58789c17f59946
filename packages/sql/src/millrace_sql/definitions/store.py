"""Kept definitions: files of SQL in a folder, one for each catalog, database, table and view.

``catalog.sql``, ``catalog/database.sql`` and ``catalog/database/table.sql`` hold the statements that create them. The
folder is in any file system that Arrow knows: local, S3, Google's, Azure's, HDFS.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from urllib.parse import quote, unquote

from pyarrow import fs

from millrace_sql.errors import SqlError

_SUFFIX = ".sql"


class DefinitionStore:
    """Read and write the files of a folder.

    Args:
        location: The folder, as a path or URI; it is made when something is first kept.
        is_read_only: Whether `save` and `delete` do nothing, as in a dry run.

    Raises:
        SqlError: No file system has such a URI, or it cannot be reached.
    """

    def __init__(self, location: str, *, is_read_only: bool = False) -> None:
        self._location = location
        self._is_read_only = is_read_only
        try:
            if "://" in location or location.startswith("file:"):
                self._files, self._root = fs.FileSystem.from_uri(location)
            else:
                self._files, self._root = fs.LocalFileSystem(), location
        except (OSError, ValueError) as error:
            raise SqlError(f"the folder of kept definitions, {location!r}, cannot be used: {error}") from error
        self._root = self._root.rstrip("/")

    def load(self) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Return each kept definition: its names, its statements, and its file; what contains others comes first."""
        selector = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        files = [file for file in self._files.get_file_info(selector) if file.type == fs.FileType.File]
        paths = [file.path for file in files if file.path.endswith(_SUFFIX)]
        for path in sorted(paths, key=lambda path: (path.count("/"), path)):
            relative = path.removeprefix(self._root).strip("/").removesuffix(_SUFFIX)
            names = tuple(unquote(part) for part in relative.split("/"))
            with self._files.open_input_stream(path) as stream:
                yield names, stream.read().decode(), path

    def save(self, names: tuple[str, ...], text: str) -> None:
        """Write the statements of a definition, whole or not at all."""
        if self._is_read_only:
            return
        path = self._path(names)
        self._files.create_dir(path.rpartition("/")[0], recursive=True)
        # The draft has no suffix, so that one that is left behind is never read
        draft = f"{path}.{uuid.uuid4().hex}"
        with self._files.open_output_stream(draft) as stream:
            stream.write(text.encode())
        self._files.move(draft, path)

    def delete(self, names: tuple[str, ...]) -> None:
        """Remove a definition, and what it contains."""
        if self._is_read_only:
            return
        path = self._path(names)
        if self._exists(path):
            self._files.delete_file(path)
        folder = path.removesuffix(_SUFFIX)
        if len(names) < 3 and self._exists(folder):
            self._files.delete_dir(folder)

    def _exists(self, path: str) -> bool:
        return bool(self._files.get_file_info(path).type != fs.FileType.NotFound)

    def _path(self, names: tuple[str, ...]) -> str:
        # A name that is `.` or `..` must not become a folder of another meaning
        parts = (quote(name, safe="").replace(".", "%2E") for name in names)
        return f"{self._root}/{'/'.join(parts)}{_SUFFIX}"
