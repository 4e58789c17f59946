"""The distributions that a release uploads, as ``tox -e release`` has built them in ``dist/``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.environments import ROOT, Environment, make_library_environment


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all wheels, in which an installer finds those that a package needs."""
    wheels = sorted((ROOT / "dist").glob("*/*.whl"))
    assert wheels, "nothing is built: run tox -e build"
    folder = tmp_path_factory.mktemp("index")
    for wheel in wheels:
        shutil.copy(wheel, folder)
    return folder


@pytest.fixture
def install(index: Path, tmp_path: Path):
    """Install a package and what it needs into an empty environment; it is removed after the test."""

    def make(distribution: str) -> Environment:
        return make_library_environment(tmp_path / "environment", index, distribution)

    yield make
    shutil.rmtree(tmp_path / "environment", ignore_errors=True)
