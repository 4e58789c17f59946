"""Secrets from a file that only its owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.reader.document import Node, Text, parse_document
from millrace_cdc.reader.sections import as_mapping


def read_secrets(path: Path) -> dict[str, str]:
    """Read values of ``${secret_values.name}`` from YAML such as ``mysql.password: ...``; dots join nested keys.

    Raises:
        PipelineError: Others may read the file, or it is not readable. The message shows no value.
    """
    problems: list[Problem] = []
    values: dict[str, str] = {}
    root = parse_document(_read_private(path), str(path), problems)
    if root is not None and as_mapping("secrets", root, problems) is not None:
        _collect(root, "", values, problems)
    if problems:
        raise PipelineError(str(path), problems)
    return values


def _read_private(path: Path) -> str:
    try:
        # The rights are those of the file that is read, even if another one takes its name meanwhile
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read()
    except OSError as error:
        raise PipelineError(str(path), [Problem(None, f"the file cannot be read: {error.strerror}")]) from error
    if hasattr(os, "getuid") and status.st_uid not in {os.getuid(), 0}:
        raise PipelineError(
            str(path), [Problem(None, "secrets: the file belongs to another user; make a copy of your own")]
        )
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise PipelineError(str(path), [Problem(None, f"secrets: others may read the file; run: chmod 600 {path}")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PipelineError(str(path), [Problem(None, "secrets: the file is not in UTF-8")]) from None


def _collect(node: Node, prefix: str, values: dict[str, str], problems: list[Problem]) -> None:
    mapping = as_mapping("secrets", node, problems)
    for key, value in () if mapping is None else mapping.entries:
        name = prefix + key.text
        if not isinstance(value, Text):
            _collect(value, f"{name}.", values, problems)
        elif value.is_null:
            problems.append(Problem(key.position, f"secret {name!r} has no value"))
        else:
            values[name] = value.text
