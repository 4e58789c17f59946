"""Connections of commands: properties from a file and from options, and what is wrong with them."""

import pytest
from click.testing import CliRunner

from millrace.errors import OptionsError
from millrace_cli.connection import client_properties
from millrace_cli.root import root


def peek(*arguments):
    return CliRunner().invoke(root, ["peek", "orders", *arguments])


def test_brokers_must_be_given():
    result = peek()
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr
        == "millrace: wrong connection options: no brokers are given; give them by --bootstrap-servers HOST:PORT\n"
    )


def test_a_property_without_a_value_is_refused_and_not_shown():
    result = peek("--property", "sasl.password:5ecret")
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
    result = peek("--config", str(file))
    assert result.exit_code == 1
    assert f"--config: {file} has a \\u without four hexadecimal digits" in result.output
    assert "5ecret" not in result.output
