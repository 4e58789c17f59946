"""The command line of ``millrace convert``."""

from __future__ import annotations

import json
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from millrace_cli.commands.convert import convert

JAVA = """bootstrap.servers=h:1
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hidden";
sasl.mechanism=PLAIN
security.protocol=SASL_SSL
"""


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    """Let no file of this process become larger than a number of bytes, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def run(text: str, *arguments: str) -> Result:
    return CliRunner().invoke(convert, arguments, input=text)


def test_options_are_on_standard_output_and_a_report_without_secrets_on_standard_error() -> None:
    done = run(JAVA)
    assert done.exit_code == 0, done.output
    assert 'password="hidden"' in json.loads(done.stdout)["properties.sasl.jaas.config"]
    assert "hidden" not in done.stderr
    assert "4 lines: 0 same, 4 translated, 0 dropped, 0 yours to decide" in done.stderr


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("schema.registry.url=http://user:hidden@h\nbootstrap.servers=h:1\n", None),
        ('{"connector.class": "JdbcSinkConnector", "connection.url": "jdbc:x?user=u&password=hidden"}', None),
        ("bootstrap.servers=h:1\nclient.id=http://user:hidden@h\n", "properties.client.id"),
    ],
)
def test_secrets_within_values_are_not_in_the_report(text: str, option: str | None) -> None:
    done = run(text)
    assert (done.exit_code, "hidden" in done.stderr, "***" in done.stderr) == (0, False, True)
    assert option is None or "hidden" in json.loads(done.stdout)[option]


def test_a_file_with_secrets_is_for_its_owner_alone(tmp_path: Path) -> None:
    output = tmp_path / "options.json"
    output.write_text("older and longer" * 100)
    done = run(JAVA, "--to", "spark", "-o", str(output))
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(output.read_text())["kafka.bootstrap.servers"] == "h:1"
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    output = tmp_path / "options.json"
    output.write_text("older")
    with limited_files(10):
        done = run(JAVA, "-o", str(output))
    assert (done.exit_code, "options.json cannot be written: File too large" in done.stderr) == (1, True)
    assert (output.read_text(), list(tmp_path.iterdir())) == ("older", [output])


def test_only_regular_files_are_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o644)
    for path in (pipe, Path(os.devnull)):
        mode = path.stat().st_mode
        done = run(JAVA, "-o", str(path))
        assert (done.exit_code, f"{path} is not a regular file" in done.stderr) == (1, True)
        assert path.stat().st_mode == mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    output, link = tmp_path / "options.json", tmp_path / "link"
    link.symlink_to(output)
    assert run(JAVA, "-o", str(link)).exit_code == 0
    assert (link.is_symlink(), "properties.bootstrap.servers" in json.loads(output.read_text())) == (True, True)


def test_a_check_fails_for_what_is_lost() -> None:
    assert run(JAVA, "--check").exit_code == 0
    done = run(f"{JAVA}session.timeout.ms=1\n", "--check")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "1 dropped" in done.stdout
    assert "hidden" not in done.stdout


def test_the_direction_decides_on_the_names_of_topics() -> None:
    text = '{"topic": "a", "properties.bootstrap.servers": "h:1"}'
    assert json.loads(run(text, "--to", "spark").stdout)["subscribe"] == "a"
    assert json.loads(run(text, "--to", "spark", "--write").stdout)["topic"] == "a"


def test_a_text_of_no_dialect_is_refused() -> None:
    done = run("colour=red\n")
    assert (done.exit_code, "say with --from what the text is" in done.output) == (1, True)
    done = run(JAVA, "--to", "pulsar")
    assert "there is no dialect 'pulsar': installed are connect, flink, java, millrace, spark" in done.output
