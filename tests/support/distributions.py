"""The metadata of installed distributions, for programs that tests start."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def install_metadata(folder: Path, name: str, entry_points: Mapping[str, Mapping[str, str]]) -> None:
    """Write a distribution's metadata into a folder that is on `sys.path`, as pip would.

    Args:
        folder: The folder.
        name: The distribution; its version is 1.2.3.
        entry_points: Values by group and name.
    """
    info = folder / f"{name.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in values.items()) for group, values in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def install_own_metadata(folder: Path, package: str) -> None:
    """Write the metadata of one of millrace's packages, with the entry points that its ``pyproject.toml`` declares.

    Args:
        folder: The folder.
        package: The package's folder under ``packages``.
    """
    project = tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]
    install_metadata(folder, project["name"], project.get("entry-points", {}))
