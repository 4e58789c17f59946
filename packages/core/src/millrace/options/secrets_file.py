"""Read a file of secrets, which nobody but its owner may read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from millrace.errors import OptionsError

_ALL_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secrets(file: Path) -> dict[str, str]:
    """Return the values of a file with a line ``name=value`` for each secret, without its empty lines and comments.

    Args:
        file: The file.

    Raises:
        OptionsError: It cannot be read, others may read or change it, or a line is no pair. The message names the
            file and the line, and shows no value.
    """
    secrets: dict[str, str] = {}
    for number, line in enumerate(_read_private(file).splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or not name:
            raise OptionsError("command", (f"{file}, line {number}: expected NAME=VALUE",))
        if name in secrets:
            raise OptionsError("command", (f"{file}, line {number}: {name} is given twice",))
        secrets[name] = value.strip()
    return secrets


def _read_private(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            # The rights of what is read, even if another file takes its name meanwhile
            rights = os.fstat(opened.fileno()).st_mode
            content = opened.read()
    except OSError as error:
        raise OptionsError("command", (f"{file} cannot be read: {error.strerror}",)) from error
    if os.name == "posix" and rights & _ALL_OTHERS:
        raise OptionsError("command", (f"others than its owner can read {file}: chmod 600 {file}",))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Without a cause, whose message would show the content
        raise OptionsError("command", (f"{file} is not in UTF-8",)) from None
