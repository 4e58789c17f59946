"""The order of a release's packages, and the versions that it refuses."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "build_packages.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_packages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def repository(tmp_path):
    """Write a repository of three packages: one that needs core, core, and the root, which needs both."""

    def write(*, core: str = "0.2.0", formats: str = "0.2.0", core_range: str = ">=0.2,<0.3") -> Path:
        projects = {
            "packages/a": f'name = "a-formats"\nversion = "{formats}"\ndependencies = ["core{core_range}", "numpy"]',
            "packages/core": f'name = "core"\nversion = "{core}"\ndependencies = []',
            ".": 'name = "all"\nversion = "0.2.0"\ndependencies = ["core"]\n'
            'optional-dependencies.avro = ["a-formats[avro]"]',
        }
        for folder, project in projects.items():
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "pyproject.toml").write_text(f"[project]\n{project}\n")
        return tmp_path

    return write


def test_packages_come_after_those_that_they_need_also_by_extras(script, repository):
    order = script.upload_order(script.read_packages(repository()))
    assert [package.name for package in order] == ["core", "a-formats", "all"]


def test_core_is_uploaded_first_and_the_name_to_install_last(script):
    names = [package.name for package in script.upload_order(script.read_packages(ROOT))]
    assert (names[0], names[-1]) == ("millrace-core", "millrace-kafka")
    assert len(names) == len(list(ROOT.glob("packages/*"))) + 1


def test_the_packages_here_can_be_released_together(script):
    packages = script.read_packages(ROOT)
    assert script.problems_of_release(packages, f"v{packages[0].version}") == []


def test_a_tag_of_another_version_is_refused(script, repository):
    root = repository(formats="0.1.0")
    assert script.problems_of_release(script.read_packages(root), "v0.2.0") == [
        f"{root}/packages/a/pyproject.toml: version: expected that of the tag v0.2.0, got 0.1.0; set it, commit, and"
        " move the tag"
    ]


def test_a_range_that_excludes_a_sibling_of_the_release_is_refused(script, repository):
    root = repository(core_range=">=0.1,<0.2")
    assert script.problems_of_release(script.read_packages(root), None) == [
        f"{root}/packages/a/pyproject.toml: dependencies: core<0.2,>=0.1 excludes the version of this release, 0.2.0;"
        " widen the range"
    ]


@pytest.mark.parametrize(
    ("heading", "tag", "problems"),
    [
        ("## 0.2.0 (2027-01-31)", "v0.2.0", []),
        ("## 0.2.0 (unreleased)", None, []),
        (
            "## 0.2.0 (unreleased)",
            "v0.2.0",
            ["CHANGELOG.md: 0.2.0: expected the date of the release, such as 2027-01-31, got unreleased"],
        ),
        (
            "## 0.1.0 (2026-01-31)",
            None,
            [
                "CHANGELOG.md: expected its first heading to be '## 0.2.0 (DATE)', got 0.1.0; write what changed",
            ],
        ),
    ],
)
def test_the_changelog_begins_with_the_version_to_release(script, heading, tag, problems):
    assert script.problems_of_changelog(f"# Changelog\n\n{heading}\n", "0.2.0", tag) == problems
