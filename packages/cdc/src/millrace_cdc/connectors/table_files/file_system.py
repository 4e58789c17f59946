"""File systems of executors, by the URLs of their folders."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from millrace.errors import MachineError

if TYPE_CHECKING:
    from pyarrow import fs

_S3 = {"s3", "s3a", "s3n"}
_S3_PROPERTIES = {
    "access_key": ("s3.access-key-id", "fs.s3a.access.key"),
    "secret_key": ("s3.secret-access-key", "fs.s3a.secret.key"),
    "session_token": ("s3.session-token", "fs.s3a.session.token"),
    "endpoint_override": ("s3.endpoint", "fs.s3a.endpoint"),
    "region": ("client.region", "fs.s3a.endpoint.region"),
}
"""Arguments of Arrow's file system: the property of Iceberg, and that of Hadoop."""

FILE_PROPERTIES = tuple(name for names in _S3_PROPERTIES.values() for name in names)
"""Properties that `file_system` knows."""


def file_system(url: str, properties: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    """Return the file system of a file or folder, and its path in it.

    Args:
        url: URL, or path of a local file system.
        properties: Properties of Iceberg or Hadoop that say how to reach it.

    Raises:
        MachineError: Arrow does not know the file system, or lacks what it needs.
    """
    parts = urlsplit(url)
    if parts.scheme in _S3:
        return _s3(tuple(sorted(properties.items()))), f"{parts.netloc}{parts.path}"
    from pyarrow import fs

    if parts.scheme in ("", "file"):
        return fs.LocalFileSystem(), parts.path
    try:
        system, path = fs.FileSystem.from_uri(url)
    except (ValueError, OSError) as error:
        raise MachineError(f"executors cannot write to {parts.scheme}://{parts.netloc}: {error}") from error
    return system, path


@functools.lru_cache(maxsize=8)
def _s3(properties: tuple[tuple[str, str], ...]) -> fs.FileSystem:
    from pyarrow import fs

    by_name = dict(properties)
    arguments = {
        argument: next((by_name[name] for name in names if by_name.get(name)), None)
        for argument, names in _S3_PROPERTIES.items()
    }
    return fs.S3FileSystem(**{name: value for name, value in arguments.items() if value is not None})
