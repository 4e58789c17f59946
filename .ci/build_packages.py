"""Build sdist and wheel of every package into ``dist/NAME/``, and list the packages in the order to upload them.

Usage: ``python .ci/build_packages.py [TAG]``. With a tag, such as ``v0.1.0``, the packages must have its version, and
CHANGELOG.md its date. The order is in ``dist/packages.json``: a package comes after those that it needs, so that each
can be installed from the moment it is uploaded. The same commit gives the same bytes, at any time, on any machine.
"""

from __future__ import annotations

import graphlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"

_HEADING = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]*)\)$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Package(NamedTuple):
    """A package of this repository.

    Attributes:
        name: Its name on the index.
        version: The version to release.
        folder: The folder of its ``pyproject.toml``.
        requirements: What it needs, extras included.
    """

    name: str
    version: str
    folder: Path
    requirements: tuple[Requirement, ...]


def read_packages(root: Path) -> list[Package]:
    """Read the packages in ``packages/`` and the one in the root."""
    return [_read_package(file) for file in (*sorted(root.glob("packages/*/pyproject.toml")), root / "pyproject.toml")]


def upload_order(packages: Iterable[Package]) -> list[Package]:
    """Sort packages so that each comes after the ones that it needs."""
    by_name = {package.name: package for package in packages}
    needs = {
        name: sorted({requirement.name for requirement in package.requirements} & by_name.keys() - {name})
        for name, package in by_name.items()
    }
    return [by_name[name] for name in graphlib.TopologicalSorter(needs).static_order()]


def problems_of_release(packages: Iterable[Package], tag: str | None) -> list[str]:
    """Find packages whose version is not the tag's, and siblings that accept no version of this release.

    Args:
        packages: All packages of the repository.
        tag: The tag to release, ``v`` and a version; None for a build without a tag.

    Returns:
        A sentence for each problem.
    """
    packages = list(packages)
    versions = {package.name: package.version for package in packages}
    return [*_other_versions(packages, tag), *_excluded_siblings(packages, versions)]


def problems_of_changelog(changelog: str, version: str, tag: str | None) -> list[str]:
    """Find out whether the changelog begins with this version, and for a tag with its date.

    Args:
        changelog: The text of CHANGELOG.md.
        version: The version of the packages.
        tag: The tag to release; None for a build without a tag, whose version may still be unreleased.

    Returns:
        A sentence for each problem.
    """
    newest = _HEADING.search(changelog)
    if newest is None or newest["version"] != version:
        shown = "no version" if newest is None else newest["version"]
        return [
            f"CHANGELOG.md: expected its first heading to be '## {version} (DATE)', got {shown}; write what changed"
        ]
    if tag is not None and not _DATE.fullmatch(newest["date"]):
        return [f"CHANGELOG.md: {version}: expected the date of the release, such as 2027-01-31, got {newest['date']}"]
    return []


def build(package: Package, folder: Path) -> None:
    """Build the sdist of a package, and its wheel from the sdist, with the build backend of this environment.

    Args:
        package: The package.
        folder: Where to put both files.
    """
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(package.folder)]
    subprocess.run(command, check=True, env={"SOURCE_DATE_EPOCH": _time_of_commit(), **os.environ})


def main(arguments: list[str]) -> None:
    """Build all packages into ``dist/``."""
    packages = upload_order(read_packages(ROOT))
    tag = arguments[0] if arguments else None
    changelog = (ROOT / "CHANGELOG.md").read_text()
    problems = [*problems_of_release(packages, tag), *problems_of_changelog(changelog, packages[-1].version, tag)]
    if problems:
        sys.exit("\n".join(problems))
    shutil.rmtree(DIST, ignore_errors=True)
    for package in packages:
        build(package, DIST / package.name)
    (DIST / "packages.json").write_text(json.dumps([package.name for package in packages]) + "\n")


def _time_of_commit() -> str:
    """Return the time that archives get for all of their files: the commit's, or zip's earliest outside a clone."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() or "315532800"


def _read_package(file: Path) -> Package:
    project = tomllib.loads(file.read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    texts = [*project["dependencies"], *(text for extra in extras for text in extra)]
    return Package(project["name"], project["version"], file.parent, tuple(map(Requirement, texts)))


def _other_versions(packages: list[Package], tag: str | None) -> Iterator[str]:
    for package in packages:
        if tag is not None and tag != f"v{package.version}":
            yield (
                f"{package.folder / 'pyproject.toml'}: version: expected that of the tag {tag}, got {package.version};"
                " set it, commit, and move the tag"
            )


def _excluded_siblings(packages: list[Package], versions: dict[str, str]) -> Iterator[str]:
    for package in packages:
        for requirement in package.requirements:
            version = versions.get(requirement.name)
            if version is not None and not requirement.specifier.contains(version, prereleases=True):
                yield (
                    f"{package.folder / 'pyproject.toml'}: dependencies: {requirement} excludes the version of this"
                    f" release, {version}; widen the range"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
