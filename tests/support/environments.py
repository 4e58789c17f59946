"""Environments of wheels, as users install them: they hold nothing that only the tests install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from support.spark_programs import QUICK

ROOT = Path(__file__).parents[2]
PACKAGES = [*(file.parent for file in sorted(ROOT.glob("packages/*/pyproject.toml"))), ROOT]
"""The folders that README.md installs."""

_PASSED_ON = ("HOME", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "LANG", "TMPDIR", "XDG_STATE_HOME")


def build_wheels(folder: Path, packages: Iterable[Path] = PACKAGES) -> None:
    """Build the wheels of packages, by the hatchling of the tests."""
    for package in packages:
        arguments = ("--no-build-isolation", "--python", sys.executable, "--out-dir", folder)
        run_uv("build", "--wheel", "--quiet", *arguments, package)


@dataclass(frozen=True)
class Environment:
    """A virtual environment, whose programs run without being activated.

    Attributes:
        folder: Where it is.
    """

    folder: Path

    def run(
        self, program: str, *arguments: object, cwd: Path, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, and return how it has ended.

        Args:
            program: Its name, such as ``python``.
            arguments: Its arguments.
            cwd: Its working directory.
            variables: Environment variables beside those that any program has.
        """
        command = [str(self.folder / "bin" / program), *map(str, arguments)]
        given = {**_variables_of_a_user(), **(variables or {})}
        return subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True)

    def output(self, program: str, *arguments: object, cwd: Path, variables: Mapping[str, str] | None = None) -> str:
        """Return what one of its programs prints; see `run`."""
        done = self.run(program, *arguments, cwd=cwd, variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def make_environment(folder: Path, wheels: Path) -> Environment:
    """Make an environment of wheels and what they depend on.

    Args:
        folder: The new environment.
        wheels: The folder of the wheels.
    """
    run_uv("venv", "--quiet", "--relocatable", "--python", sys.executable, folder)
    # As pip does; processes of Spark would each compile what they import
    _install(folder, "--compile-bytecode", *sorted(wheels.glob("*.whl")))
    return Environment(folder)


def make_library_environment(folder: Path, wheels: Path, distribution: str) -> Environment:
    """Make an environment of one package and what it depends on.

    Args:
        folder: The new environment.
        wheels: The folder of the wheels, of which only those that it depends on are installed.
        distribution: The package.
    """
    run_uv("venv", "--quiet", "--relocatable", "--python", sys.executable, folder)
    _install(folder, "--find-links", wheels, distribution)
    return Environment(folder)


def add_extra(folder: Path, plain: Environment, wheels: Path, package: str, extra: str) -> Environment:
    """Make a copy of an environment, and install an extra there.

    Args:
        folder: The new environment.
        plain: The environment to copy; files are linked, since copies take longer and need space.
        wheels: The folder of the wheels.
        package: The distribution with the extra.
        extra: The extra.
    """
    shutil.copytree(plain.folder, folder, symlinks=True, copy_function=os.link)
    (wheel,) = wheels.glob(f"{package.replace('-', '_')}-*.whl")
    _install(folder, f"{package}[{extra}] @ {wheel.as_uri()}")
    return Environment(folder)


def _variables_of_a_user() -> dict[str, str]:
    """Return environment variables that name neither the tests' environment nor their sources."""
    given = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(each for each in folders if not (Path(each).parent / "pyvenv.cfg").exists())
    # Options of Java alone: a SPARK_HOME, with which Spark starts sooner, would run the PySpark of the tests
    return {
        **given,
        "PATH": path,
        "SPARK_LAUNCHER_OPTS": QUICK,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": QUICK,
    }


def _install(folder: Path, *requirements: object) -> None:
    command = ("pip", "install", "--quiet", "--python", folder / "bin/python")
    # Where a mirror of PyPI forbids caches, uv would otherwise fetch and build PySpark each time
    if _uv(*command, "--offline", *requirements).returncode != 0:
        run_uv(*command, *requirements)


def run_uv(*arguments: object) -> None:
    """Run a command of uv.

    Raises:
        AssertionError: It failed.
    """
    done = _uv(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def _uv(*arguments: object) -> subprocess.CompletedProcess[str]:
    variables = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run([find_uv_bin(), *map(str, arguments)], capture_output=True, text=True, env=variables)
