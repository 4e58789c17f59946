"""Versions of all packages, and the ranges by which they name each other, moved by one command."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from packaging.version import Version

CI = Path(__file__).parents[2] / ".ci"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(CI))
    spec = importlib.util.spec_from_file_location("set_version", CI / "set_version.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(CI))
    del sys.modules["build_packages"]


@pytest.mark.parametrize(
    ("version", "accepted"), [("0.2.1", ">=0.2,<0.3"), ("1.0.0", ">=1.0,<2"), ("2.3.4", ">=2.3,<3")]
)
def test_siblings_accept_compatible_versions(script, version: str, accepted: str):
    assert script.compatible_range(Version(version)) == accepted


def test_versions_and_ranges_move_together(script):
    before = (
        'version = "0.1.0"\nrequires = ["core>=0.1,<0.2", "core[avro]>=0.1,<0.2", "core[avro]", "other>=0.1,<0.2"]\n'
    )
    after = (
        'version = "0.2.0"\nrequires = ["core>=0.2,<0.3", "core[avro]>=0.2,<0.3", "core[avro]", "other>=0.1,<0.2"]\n'
    )
    assert script.with_version(before, Version("0.2.0"), ["core"]) == after


def test_the_changelog_gets_one_heading(script):
    changelog = "# Changelog\n\n## 0.1.0 (2027-01-31)\n"
    once = script.with_heading(changelog, Version("0.2.0"))
    assert once == "# Changelog\n\n## 0.2.0 (unreleased)\n\n## 0.1.0 (2027-01-31)\n"
    assert script.with_heading(once, Version("0.2.0")) == once
