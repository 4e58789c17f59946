"""Input at the prompt: statements, or commands."""

import pytest

from millrace_sql.shell.commands import Command, split_commands


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("  ; ", []),
        ("Quit;", [Command("leave")]),
        ("exit", [Command("leave")]),
        ("HELP;", [Command("help")]),
        ("source '/tmp/a b.sql';", [Command("source", "/tmp/a b.sql")]),
        ("SOURCE a.sql", [Command("source", "a.sql")]),
        ("STOP JOB 'Copy-1';", [Command("stop job", "Copy-1")]),
        ("SHOW TABLES;\nQUIT;", ["SHOW TABLES;", Command("leave")]),
        ("SELECT 'quit'", ["SELECT 'quit'"]),
    ],
)
def test_what_is_typed(text, parts):
    assert split_commands(text) == parts


def test_a_savepoint_is_refused():
    with pytest.raises(ValueError, match="STOP JOB has no savepoints: a stream has a checkpoint"):
        split_commands("STOP JOB 'x' WITH SAVEPOINT;")
