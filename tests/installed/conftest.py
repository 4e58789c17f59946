"""An environment as README.md makes it, for all workers, and its copies with an extra each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from millrace_broker.folders import exclusive_lock
from support.environments import Environment, add_extra, build_wheels, make_environment


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, which its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def wheels(shared_folder: Path) -> Path:
    """The folder with the wheels of all packages, of the sources under test."""
    return _made_once(shared_folder / "wheels", build_wheels)


@pytest.fixture(scope="session")
def plain(shared_folder: Path, wheels: Path) -> Environment:
    """An environment with all wheels and what they depend on."""
    return Environment(_made_once(shared_folder / "plain", lambda folder: make_environment(folder, wheels)))


@pytest.fixture
def with_extra(plain: Environment, wheels: Path, tmp_path: Path) -> Iterator[Callable[..., Environment]]:
    """Make environments with an extra; they are removed after the test."""

    def make(extra: str, package: str = "millrace-kafka") -> Environment:
        return add_extra(tmp_path / "environment", plain, wheels, package, extra)

    yield make
    shutil.rmtree(tmp_path / "environment", ignore_errors=True)


def _made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    with exclusive_lock(folder.with_name(f"{folder.name}.lock")):
        if not folder.exists():
            partial = folder.with_name(f"{folder.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            make(partial)
            partial.rename(folder)
    return folder
