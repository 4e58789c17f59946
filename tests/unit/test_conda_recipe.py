"""The recipe for conda requires what the packages do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
RECIPE = yaml.safe_load((ROOT / "deploy/conda/recipe.yaml").read_text())

NAMES = {
    "confluent-kafka": "python-confluent-kafka",
    "lmdb": "python-lmdb",
    "prometheus-client": "prometheus_client",
    "typing-extensions": "typing_extensions",
}
"""Names that conda-forge gives to distributions."""

OWN = {"python", "openjdk"}
"""Requirements that wheels cannot name."""


def test_it_requires_what_the_packages_do():
    projects = [tomllib.loads(file.read_text())["project"] for file in ROOT.glob("packages/*/pyproject.toml")]
    own = {project["name"] for project in projects}
    needed = {Requirement(text).name for project in projects for text in project["dependencies"]} - own
    required = {line.split()[0] for line in RECIPE["requirements"]["run"]}
    assert {NAMES.get(name, name) for name in needed} == required - OWN


def test_it_has_the_version_of_the_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert RECIPE["context"]["version"] == project["version"]
