"""The command line of ``millrace convert``."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from click.testing import CliRunner, Result

from millrace_cli.commands.convert import convert

JAVA = """bootstrap.servers=h:1
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hidden";
sasl.mechanism=PLAIN
security.protocol=SASL_SSL
"""


def run(text: str, *arguments: str) -> Result:
    return CliRunner().invoke(convert, arguments, input=text)


def test_options_are_on_standard_output_and_a_report_without_secrets_on_standard_error() -> None:
    done = run(JAVA)
    assert done.exit_code == 0, done.output
    assert 'password="hidden"' in json.loads(done.stdout)["properties.sasl.jaas.config"]
    assert "hidden" not in done.stderr
    assert "4 lines: 0 same, 4 translated, 0 dropped, 0 yours to decide" in done.stderr


def test_a_file_with_secrets_is_for_its_owner_alone(tmp_path: Path) -> None:
    output = tmp_path / "options.json"
    output.write_text("older and longer" * 100)
    done = run(JAVA, "--to", "spark", "-o", str(output))
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(output.read_text())["kafka.bootstrap.servers"] == "h:1"
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


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
