"""Checksums of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256(path: Path) -> str:
    """A file's SHA-256, in hexadecimal.

    Raises:
        OSError: The file is missing or cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
