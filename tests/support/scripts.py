"""Programs of ``.ci``, imported as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

CI = Path(__file__).parents[2] / ".ci"


def load_script(name: str) -> ModuleType:
    """Import a program of ``.ci`` that imports none of the others."""
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
