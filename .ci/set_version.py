"""Give all packages a new version, and CHANGELOG.md a heading for it.

Usage: ``python .ci/set_version.py VERSION``, or ``tox -e version -- VERSION``. Siblings name each other by the range of
compatible versions: ``>=0.2,<0.3`` before 1.0, ``>=1.2,<2`` from then on.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from build_packages import ROOT, Package, read_packages
from packaging.version import InvalidVersion, Version

CHANGELOG = ROOT / "CHANGELOG.md"
CITATION = ROOT / "CITATION.cff"
RECIPE = ROOT / "deploy/conda/recipe.yaml"


def compatible_range(version: Version) -> str:
    """Return the range of versions that siblings of this version accept."""
    following = f"0.{version.minor + 1}" if version.major == 0 else str(version.major + 1)
    return f">={version.major}.{version.minor},<{following}"


def with_version(project: str, version: Version, siblings: list[str]) -> str:
    """Return the text of a ``pyproject.toml`` with another version and other ranges of siblings.

    Args:
        project: The text.
        version: The new version.
        siblings: Names of the packages of this repository.
    """
    text = re.sub(r'^version = "[^"]*"$', f'version = "{version}"', project, count=1, flags=re.MULTILINE)
    names = "|".join(map(re.escape, siblings))
    # A requirement of extras alone has no range: the dependency on the same package has it
    ranges = re.compile(rf'"(?P<name>(?:{names})(?:\[[^\]]*\])?)>=[^"]*"')
    return ranges.sub(lambda match: f'"{match["name"]}{compatible_range(version)}"', text)


def with_heading(changelog: str, version: Version) -> str:
    """Return the changelog, which begins with a heading of the version."""
    if f"\n## {version} (" in changelog:
        return changelog
    title, newline, rest = changelog.partition("\n\n")
    return f"{title}{newline}## {version} (unreleased)\n\n{rest}"


def set_version(packages: list[Package], version: Version) -> list[Path]:
    """Write the version into the files of packages, and return the files."""
    siblings = [package.name for package in packages]
    examples = sorted(ROOT.glob("examples/*/pyproject.toml"))
    files = [*(package.folder / "pyproject.toml" for package in packages), *examples]
    for file in files:
        file.write_text(with_version(file.read_text(), version, siblings))
    CHANGELOG.write_text(with_heading(CHANGELOG.read_text(), version))
    RECIPE.write_text(re.sub(r'(?m)^  version: "[^"]*"$', f'  version: "{version}"', RECIPE.read_text()))
    CITATION.write_text(re.sub(r"(?m)^version: .*$", f"version: {version}", CITATION.read_text()))
    return [*files, CHANGELOG, RECIPE, CITATION]


def main(arguments: list[str]) -> None:
    """Write the version of the command line into all packages."""
    try:
        (text,) = arguments
        version = Version(text)
    except (ValueError, InvalidVersion):
        sys.exit(f"expected a version such as 0.2.0, got {' '.join(arguments) or 'nothing'}")
    files = set_version(read_packages(ROOT), version)
    sys.stdout.write(f"{version} in {len(files)} files; see git diff\n")


if __name__ == "__main__":
    main(sys.argv[1:])
