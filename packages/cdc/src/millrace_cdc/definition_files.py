"""Read the definitions of pipelines for commands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace_cdc.definitions.model import PipelineDefinition


def read_definition(file: Path, settings: Sequence[tuple[str, str]], secrets: Path | None) -> PipelineDefinition:
    """Read a definition with the values that a command line gives.

    Args:
        file: The file.
        settings: Values of references, by name; environment variables stand for the others.
        secrets: The file of secrets; None for no secrets.

    Raises:
        PipelineError: It is wrong, or cannot be read.
        OptionsError: The file of secrets is wrong, or others may read it.
    """
    from millrace.options.secrets_file import read_secrets
    from millrace_cdc.reader.reader import read_pipeline_file

    secret_values = read_secrets(secrets) if secrets is not None else {}
    return read_pipeline_file(file, variables={**os.environ, **dict(settings)}, secret_values=secret_values)
