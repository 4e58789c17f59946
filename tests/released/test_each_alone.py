"""Each package by itself, installed from an index into an empty environment, runs its README's program."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from support.environments import ROOT
from support.package_examples import example_of

FOLDERS = sorted(file.parent for file in ROOT.glob("packages/*/pyproject.toml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_its_example_runs(folder: Path, install, tmp_path):
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    script = tmp_path / "example.py"
    script.write_text(example_of(folder))

    environment = install(project["name"])

    environment.output("python", script, cwd=tmp_path)
