"""Files of secrets."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace.options.secrets_file import read_secrets


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "secrets"
    path.write_text("# of production\n\npassword = a=b \nmysql.user=me\n")
    path.chmod(0o600)
    return path


def test_values_are_read_by_their_names(file):
    assert read_secrets(file) == {"password": "a=b", "mysql.user": "me"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_may_use_is_refused(file, mode):
    file.chmod(mode)
    with pytest.raises(OptionsError, match=r"others than its owner can read .*: chmod 600"):
        read_secrets(file)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"hunter2", "line 1: expected NAME=VALUE"),
        (b"=hunter2", "line 1: expected NAME=VALUE"),
        (b"# user\nuser=hunter2\nuser=hunter3", "line 3: user is given twice"),
        (b"a=hunter2\xff", "is not in UTF-8"),
    ],
)
def test_what_is_wrong_is_told_without_values(file, content, problem):
    file.write_bytes(content)
    with pytest.raises(OptionsError, match=problem) as refused:
        read_secrets(file)
    assert "hunter" not in str(refused.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(OptionsError, match="cannot be read: No such file"):
        read_secrets(tmp_path / "none")
