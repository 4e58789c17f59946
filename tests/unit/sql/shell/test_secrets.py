"""Secrets of the command line, and what is kept of them."""

import os

import click
import pytest

from millrace_sql.errors import hide_secrets
from millrace_sql.shell.interactive import new_history
from millrace_sql.shell.secrets_file import read_secrets

TABLE = "WITH ('sasl.password' = 'a''b', 'url' = 'jdbc:x://h/d?user=u&password=hunter2', 'registry' = 'http://u:pw@h')"
HIDDEN = "WITH ('sasl.password' = '***', 'url' = 'jdbc:x://h/d?user=u&password=***', 'registry' = 'http://u:***@h')"


@pytest.fixture
def secrets_file(tmp_path):
    file = tmp_path / "secrets"
    file.touch(mode=0o600)
    return file


def test_values_are_read_by_their_names(secrets_file):
    secrets_file.write_text("# of production\n\npassword = a=b \nuser=me\n")
    assert read_secrets(secrets_file) == {"password": "a=b", "user": "me"}


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_file_that_others_can_read_is_refused(secrets_file):
    secrets_file.chmod(0o640)
    with pytest.raises(click.BadParameter, match=r"others than its owner can read .*: chmod 600"):
        read_secrets(secrets_file)


@pytest.mark.parametrize("line", ["hunter2", "=hunter2", "user=hunter2\nuser=hunter2"])
def test_a_wrong_line_is_named_and_not_shown(secrets_file, line):
    secrets_file.write_text(line)
    with pytest.raises(click.BadParameter, match=r"line [12]: ") as refusal:
        read_secrets(secrets_file)
    assert "hunter2" not in str(refusal.value)


def test_secrets_are_hidden_in_statements():
    assert hide_secrets(TABLE) == HIDDEN
    assert hide_secrets("SET 'a' = 'b'") == "SET 'a' = 'b'"


def test_the_history_has_no_secrets(tmp_path):
    history = new_history(tmp_path / "history")
    history.append_string(TABLE)
    assert list(new_history(tmp_path / "history").load_history_strings()) == [HIDDEN]
