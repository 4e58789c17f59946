"""Names of distributions that documentation, hints and errors tell people to install."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = [
    tomllib.loads(file.read_text())["project"] for file in (ROOT / "pyproject.toml", *ROOT.glob("packages/*/*.toml"))
]
DISTRIBUTIONS = {project["name"]: set(project.get("optional-dependencies", {})) for project in PROJECTS}
EXAMPLES = {"millrace-partitioner-example"}

TEXTS = [
    file
    for pattern in ("*.md", "docs/**/*.md", "packages/**/*.md", "examples/**/*.md", "packages/*/src/**/*.py")
    for file in sorted(ROOT.glob(pattern))
    if not {".tox", ".venv"} & set(file.parts)
]

_COMMAND = re.compile(r"\b(?:(?:pip|pipx|uv|uv pip) install|(?:uv|poetry) add|uvx|pipx run) (?P<rest>[^`\n]+)")
_NAME = re.compile(r"(?<![\w./@{-])(?P<name>millrace[\w.-]*)(?:\[(?P<extras>[^\]{]*)\])?")


def named(text: str) -> Iterator[tuple[str, set[str]]]:
    """Find the distributions of ours, and their extras, that commands in a text install."""
    for command in _COMMAND.finditer(text):
        for found in _NAME.finditer(command["rest"].partition(" #")[0]):
            yield found["name"].rstrip(".,"), {extra.strip() for extra in (found["extras"] or "").split(",")} - {""}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("run: pip install millrace", [("millrace", set())]),
        (
            "`pip install -U 'millrace-formats[avro,protobuf]'`, millrace does",
            [("millrace-formats", {"avro", "protobuf"})],
        ),
        ("pip install ./packages/* . and -e packages/millrace", []),
        ("uv add pyspark millrace-kafka  # millrace", [("millrace-kafka", set())]),
    ],
)
def test_commands_that_install_are_understood(text, found):
    assert list(named(text)) == found


def test_every_command_that_installs_names_a_distribution_of_this_project():
    told = {
        (file, name, extra) for file in TEXTS for name, extras in named(file.read_text()) for extra in extras | {""}
    }
    names = {name for _, name, _ in told}

    wrong = [
        f"{file.relative_to(ROOT)}: {name}[{extra}]"
        for file, name, extra in sorted(told)
        if name not in DISTRIBUTIONS.keys() | EXAMPLES or (extra and extra not in DISTRIBUTIONS[name])
    ]

    assert wrong == []
    assert "millrace-kafka" in names, "no file says how to install the whole"


def test_no_distribution_depends_on_the_name_that_is_another_projects():
    needed = {
        (project["name"], re.match(r"[\w.-]+", each)[0])
        for project in PROJECTS
        for group in (project.get("dependencies", []), *project.get("optional-dependencies", {}).values())
        for each in group
    }

    assert [each for each in sorted(needed) if each[1].startswith("millrace") and each[1] not in DISTRIBUTIONS] == []
    assert "millrace" not in DISTRIBUTIONS
