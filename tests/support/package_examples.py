"""The examples in the READMEs of packages, which are also their pages on the package index."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

_GIVEN = {"ui": "import millrace\n\nspark = millrace.local_session(cores=1)\n"}
"""Names that an example takes for granted."""


def example_of(folder: Path) -> str:
    """Return the first program in the README of a package."""
    program, *_ = re.findall(r"^```python\n(.*?)^```", (folder / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return _GIVEN.get(folder.name, "") + program
