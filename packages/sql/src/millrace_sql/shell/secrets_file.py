"""Read a file of secrets, which nobody but its owner may read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click

_ALL_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secrets(file: Path) -> dict[str, str]:
    """Return the values of a file with a line ``name=value`` for each secret, without its empty lines and comments.

    Args:
        file: The file.

    Raises:
        BadParameter: Others may read or change it, or a line is no pair; no message shows a value.
    """
    if os.name == "posix" and file.stat().st_mode & _ALL_OTHERS:
        raise _wrong(f"others than its owner can read {file}: chmod 600 {file}")
    secrets: dict[str, str] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or not name:
            raise _wrong(f"{file}, line {number}: expected NAME=VALUE")
        if name in secrets:
            raise _wrong(f"{file}, line {number}: {name} is given twice")
        secrets[name] = value.strip()
    return secrets


def _wrong(problem: str) -> click.BadParameter:
    return click.BadParameter(problem, param_hint="'--secrets'")
