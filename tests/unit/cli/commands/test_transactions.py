"""The commands of transactions before and after they call a broker."""

import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace_cli.connection import client_properties
from millrace_cli.root import root
from millrace_cli.transactions.open_transactions import OpenTransaction, is_task_id, unchanged
from millrace_cli.transactions.table import as_json, duration, table_lines

BEGAN_MS = 1_700_000_000_000


def open_transaction(name="p-0", began_ms=BEGAN_MS, state="Ongoing"):
    return OpenTransaction(name, state, began_ms, (TopicPartition("orders", 0), TopicPartition("orders", 10)))


def run(*arguments, **settings):
    return CliRunner().invoke(root, ["transactions", *arguments], **settings)


@pytest.mark.parametrize("command", ["list", "abort"])
def test_both_commands_have_help_and_need_a_prefix(command):
    assert f"Usage: root transactions {command}" in run(command, "--help").output
    missing = run(command, "--bootstrap-servers", "localhost:1")
    assert missing.exit_code == 2
    assert "Missing option '--prefix'" in missing.output


def test_an_empty_prefix_is_refused():
    result = run("list", "--prefix", " ", "--bootstrap-servers", "localhost:1")
    assert (result.exit_code, "expected the query's sink.transactional-id-prefix" in result.output) == (2, True)


def test_brokers_must_be_given():
    result = run("list", "--prefix", "p")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr
        == "millrace: wrong connection options: no brokers are given; give them by --bootstrap-servers HOST:PORT\n"
    )


@pytest.mark.parametrize("given", ["60", "-1s", "soon", "-1"])
def test_a_duration_needs_its_unit(given):
    result = run("abort", "--prefix", "p", "--older-than", given)
    assert result.exit_code == 2
    assert "Invalid value for '--older-than': expected a duration" in result.output
    assert repr(given) in result.output


def test_a_property_without_a_value_is_refused_and_not_shown():
    result = run("list", "--prefix", "p", "--property", "sasl.password:5ecret")
    assert result.exit_code == 2
    assert "expected NAME=VALUE" in result.output
    assert "5ecret" not in result.output


def test_properties_come_from_the_file_then_the_options_then_the_brokers(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text(
        "# of all teams\n! and all tools\n"
        "bootstrap.servers = elsewhere:9092\n"
        "client.id: from the file\n"
        "properties.security.protocol=SASL_SSL\n"
        "sasl.mechanism PLAIN\n"
        "sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule \\\n"
        '    required username="\\u00e4lice" password="p=\\\\\\\\w";\n'
    )
    client = client_properties("here:9092", file, {"properties.client.id": "from an option"})
    assert dict(client) == {
        "bootstrap.servers": "here:9092",
        "client.id": "from an option",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "älice",
        "sasl.password": "p=\\w",
    }
    assert client_properties(None, file, {})["bootstrap.servers"] == "elsewhere:9092"


def test_all_that_is_wrong_with_properties_is_told_at_once():
    with pytest.raises(OptionsError) as error:
        client_properties("here:9092", None, {"partitioner": "random", "sasl.mechanism": "PLAN"})
    assert len(error.value.problems) == 2
    assert "option 'properties.partitioner' cannot be set" in str(error.value)
    assert "did you mean 'PLAIN'?" in str(error.value)


def test_a_file_that_is_none_of_properties_is_told_and_not_quoted(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("sasl.password=5ecret\\u12")
    result = run("list", "--prefix", "p", "--config", str(file))
    assert result.exit_code == 1
    assert f"--config: {file} has a \\u without four hexadecimal digits" in result.output
    assert "5ecret" not in result.output


def test_without_the_libraries_it_is_said_what_to_install(tmp_path):
    (tmp_path / "javaproperties.py").write_text("raise ImportError('not installed')")
    (tmp_path / "client.properties").write_text("")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "millrace_cli",
            "transactions",
            "list",
            "--prefix",
            "p",
            "--config",
            "client.properties",
        ],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert "pip install 'millrace-cli[transactions]'" in result.stderr


@pytest.mark.parametrize("name", ["p-0", "p-17", "p-007"])
def test_ids_of_tasks_are_the_prefix_and_a_number(name):
    assert is_task_id(name, "p")


@pytest.mark.parametrize(
    "name", ["p", "p-", "p0", "p2-0", "p-x-0", "p-0-0", "p--1", "p-1 ", "p-1\n", "xp-0", "P-0", "p-²"]
)
def test_other_ids_are_none_of_tasks(name):
    assert not is_task_id(name, "p")


def test_a_prefix_is_no_pattern():
    assert is_task_id("a.b+-1", "a.b+")
    assert not is_task_id("axbb-1", "a.b+")


def test_a_transaction_that_began_anew_is_another_one():
    before = [open_transaction("p-0"), open_transaction("p-1"), open_transaction("p-2")]
    now = [
        open_transaction("p-0", state="PrepareAbort"),
        open_transaction("p-1", BEGAN_MS + 1),
        open_transaction("p-3"),
    ]
    assert unchanged(before, now) == [now[0]]


@pytest.mark.parametrize(
    ("now_ms", "began_ms", "expected"), [(BEGAN_MS + 5, BEGAN_MS, 5), (BEGAN_MS - 5, BEGAN_MS, 0), (BEGAN_MS, -1, 0)]
)
def test_a_beginning_that_is_ahead_or_unknown_is_young(now_ms, began_ms, expected):
    assert open_transaction(began_ms=began_ms).open_ms(now_ms / 1000) == expected


def test_a_table_in_a_pipe_has_one_plain_line_for_each_transaction():
    lines = table_lines([open_transaction(f"p-{task}") for task in range(3)], coloured=False)
    assert lines[0].split("  ")[0] == "transactional id"
    for task, line in enumerate(lines[1:]):
        assert re.fullmatch(rf"p-{task} +Ongoing +2023-11-14T22:13:20Z +\d+ days?, [\d:]+ +orders-0, orders-10", line)


def test_json_has_what_the_help_says():
    (only,) = json.loads(as_json([open_transaction()]))["transactions"]
    assert only.pop("open_seconds") > 1e6
    assert only == {
        "transactional_id": "p-0",
        "state": "Ongoing",
        "began": "2023-11-14T22:13:20Z",
        "partitions": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 10}],
    }
    help_text = " ".join(run("list", "--help").output.split())
    assert "{transactional_id, state, began, open_seconds, partitions}" in help_text


def test_durations_are_to_the_second():
    assert duration(3_723_999) == "1:02:03"


def test_a_table_at_a_terminal_is_as_wide_as_that_and_keeps_times_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = table_lines([open_transaction("orders-copy-0")], coloured=True)
    assert any("2023-11-14T22:13:20Z" in line for line in lines)
    assert max(map(len, lines)) <= 80
