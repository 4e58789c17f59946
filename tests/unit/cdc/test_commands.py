"""The commands of pipelines."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from millrace_cli.root import root

RIGHT = """
source: {type: kafka, properties.bootstrap.servers: 'h:1', topic: '${topic}'}
sink: {type: kafka, properties.bootstrap.servers: 'h:1', properties.sasl.password: '${secret_values.p}'}
route:
  - {source-table: a, sink-table: b}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "p.yaml").write_text(RIGHT)
    (tmp_path / "s.yaml").write_text("p=hunter2")
    (tmp_path / "s.yaml").chmod(0o600)
    return tmp_path


def run(*arguments: object, **environment: str):
    return CliRunner().invoke(root, [str(each) for each in arguments], env=environment)


def test_a_right_file(files):
    done = run("validate", files / "p.yaml", "--set", "topic=t", "--secrets", files / "s.yaml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("p.yaml is valid: kafka to kafka, 1 route, 0 transforms\n")


def test_filters_that_drop_what_flink_cdc_keeps_are_warned_of(files):
    (files / "p.yaml").write_text(RIGHT + "transform:\n  - {source-table: a, filter: \"id > 1 AND name <> 'x'\"}\n")
    done = run("validate", files / "p.yaml", "--set", "topic=t", "--secrets", files / "s.yaml")
    assert done.exit_code == 0
    assert "warning: line 7, column " in done.stderr
    assert "a row whose value is NULL is dropped, which Flink CDC keeps: write IS DISTINCT FROM" in done.stderr


def test_variables_are_those_of_the_environment_unless_set(files):
    assert run("validate", files / "p.yaml", "--secrets", files / "s.yaml", topic="t").exit_code == 0
    wrong = run("validate", files / "p.yaml", "--secrets", files / "s.yaml", "--set", "topic=;", topic="t")
    assert wrong.exit_code == 1
    assert "line 2, column 67: option 'topic': expected topic names separated by ';'" in wrong.stderr


def test_a_wrong_file_ends_with_1_and_every_problem(files):
    done = run("validate", files / "p.yaml")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "p.yaml has 2 problems:" in done.stderr
    assert "'${topic}' has no value" in done.stderr
    assert "'${secret_values.p}' has no value" in done.stderr


def test_a_file_of_secrets_that_others_may_read_is_refused(files):
    (files / "s.yaml").chmod(0o644)
    done = run("validate", files / "p.yaml", "--set", "topic=t", "--secrets", files / "s.yaml")
    assert done.exit_code == 1
    assert "chmod 600" in done.stderr
    assert "hunter2" not in done.output
    done = run("validate", files / "p.yaml", "--set", "topic=t", "--secrets", files / "none.yaml")
    assert (done.exit_code, "cannot be read" in done.stderr) == (1, True)


@pytest.mark.parametrize("arguments", [(), ("p.yaml", "--set", "topic"), ("p.yaml", "--sett", "a=b")])
def test_a_wrong_command_line_ends_with_2(arguments):
    assert run("validate", *arguments).exit_code == 2


def test_the_json_schema_is_printed():
    done = run("pipeline-schema")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["required"] == ["source", "sink"]
