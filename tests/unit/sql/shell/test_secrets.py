"""Secrets of the command line, and what is kept of them."""

from millrace_sql.errors import hide_secrets
from millrace_sql.shell.interactive import new_history

TABLE = "WITH ('sasl.password' = 'a''b', 'url' = 'jdbc:x://h/d?user=u&password=hunter2', 'registry' = 'http://u:pw@h')"
HIDDEN = "WITH ('sasl.password' = '***', 'url' = 'jdbc:x://h/d?user=u&password=***', 'registry' = 'http://u:***@h')"


def test_secrets_are_hidden_in_statements():
    assert hide_secrets(TABLE) == HIDDEN
    assert hide_secrets("SET 'a' = 'b'") == "SET 'a' = 'b'"


def test_the_history_has_no_secrets(tmp_path):
    history = new_history(tmp_path / "history")
    history.append_string(TABLE)
    assert list(new_history(tmp_path / "history").load_history_strings()) == [HIDDEN]
