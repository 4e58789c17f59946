"""Workflows call environments that tox.ini has, and those for pull requests all that .ci/run calls."""

from __future__ import annotations

import configparser
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = {file.stem: file.read_text() for file in (ROOT / ".github" / "workflows").glob("*.yml")}

_CALL = re.compile(r"\btox(?: run)? -e (?P<names>\S+)")


def environments(tox_ini: str) -> set[str]:
    """Read the names of the environments of a tox.ini, each combination of factors in braces as one."""
    parser = configparser.RawConfigParser()
    parser.read_string(tox_ini)
    prefix = "testenv:"
    return {
        "".join(name)
        for section in parser.sections()
        if section.startswith(prefix)
        for name in itertools.product(*map(_choices, re.split(r"(\{[^}]*\})", section.removeprefix(prefix))))
    }


def called_environments(workflow: str) -> set[str]:
    """Find the environments that the steps of a workflow call, also those of a matrix or of a form."""
    definition = yaml.load(workflow, Loader=yaml.BaseLoader)
    form = definition["on"].get("workflow_dispatch", {}) if isinstance(definition["on"], dict) else {}
    return {
        environment
        for job in definition["jobs"].values()
        for step in job["steps"]
        for call in _CALL.finditer(step.get("run", ""))
        for names in _values(call["names"], step, job, form)
        for environment in names.split(",")
    }


def _choices(part: str) -> list[str]:
    return part[1:-1].split(",") if part.startswith("{") else [part]


def _values(names: str, step: dict[str, Any], job: dict[str, Any], form: dict[str, Any]) -> Iterator[str]:
    if names != '"$ENVIRONMENT"':
        yield names
    elif step["env"]["ENVIRONMENT"] == "${{ inputs.environment }}":
        yield from form["inputs"]["environment"]["options"]
    else:
        assert step["env"]["ENVIRONMENT"] == "${{ matrix.environment }}"
        matrix = job["strategy"]["matrix"]
        yield from matrix.get("environment", [])
        yield from (entry["environment"] for entry in matrix.get("include", []))


def test_factors_in_braces_are_names_of_their_own():
    text = "[tox]\n[testenv]\n[testenv:tests{,-old}]\n[testenv:{one,two}]\n[testenv:lint]\ncommands = a\n[own]\n"
    assert environments(text) == {"tests", "tests-old", "one", "two", "lint"}


@pytest.mark.parametrize(
    ("strategy", "step", "found"),
    [
        ("{}", "{run: tox run -e docs -- --check}", {"docs"}),
        (
            "{matrix: {environment: ['a,b', c]}}",
            "{run: 'tox run -e \"$ENVIRONMENT\"', env: {ENVIRONMENT: '${{ matrix.environment }}'}}",
            {"a", "b", "c"},
        ),
        (
            "{matrix: {include: [{environment: a, python: '3.13'}]}}",
            "{run: 'tox run -e \"$ENVIRONMENT\"', env: {ENVIRONMENT: '${{ matrix.environment }}'}}",
            {"a"},
        ),
        (
            "{}",
            "{run: 'tox run -e \"$ENVIRONMENT\"', env: {ENVIRONMENT: '${{ inputs.environment }}'}}",
            {"soak", "fuzz"},
        ),
        ("{}", "{uses: actions/checkout}", set()),
    ],
)
def test_calls_are_found_in_steps_matrices_and_forms(strategy, step, found):
    form = "{workflow_dispatch: {inputs: {environment: {options: [soak, fuzz]}}}}"
    workflow = f"on: {form}\njobs: {{job: {{strategy: {strategy}, steps: [{step}]}}}}"
    assert called_environments(workflow) == found


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_every_environment_that_a_workflow_calls_is_in_tox_ini(name):
    called = called_environments(WORKFLOWS[name])
    assert called
    assert called - environments((ROOT / "tox.ini").read_text()) == set()


def test_a_pull_request_runs_all_that_ci_runs():
    # `tox` alone runs the tests; deployments and faults run there in the environments of the tests
    script = (ROOT / ".ci" / "run").read_text()
    stages = set(re.findall(r"^stage (\S+)", script, re.MULTILINE))
    assert stages
    assert stages - called_environments(WORKFLOWS["pull-request"]) == set()
