"""The file of ``--secrets``."""

from __future__ import annotations

from pathlib import Path

import click

from millrace.options import secrets_file


def read_secrets(file: Path) -> dict[str, str]:
    """Return the secrets of a file, as `millrace.options.secrets_file.read_secrets` does.

    Raises:
        BadParameter: Others may read or change it, or it is wrong; no message shows a value.
    """
    try:
        return secrets_file.read_secrets(file)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--secrets'") from error
