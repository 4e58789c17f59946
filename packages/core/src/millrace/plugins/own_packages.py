"""The package of millrace that offers a plugin, for hints on what to install.

``own_packages.json`` is written by ``tox -e docs``, which finds the plugins of all packages by their entry points.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.plugins.kinds import Kind


def package_for(kind: Kind[Any], name: str) -> str | None:
    """Return the package of millrace that offers a plugin, installed or not; None if there is none."""
    return next((package for package, names in _packages().get(kind.name, {}).items() if name in names), None)


# Only errors need it
@functools.cache
def _packages() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = files("millrace.plugins").joinpath("own_packages.json").read_text("utf-8")
    packages: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(text)
    return packages
