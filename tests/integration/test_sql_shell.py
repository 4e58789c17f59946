"""`millrace sql`: scripts, the interactive shell on a terminal, and the notebook's cell magic."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import urllib.request

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from pyspark.errors import StreamingQueryException
from rich.console import Console

from millrace_sql import SqlError, TableEnvironment
from millrace_sql.shell.scripts import run_script
from support.waiting import wait_until

NUMBERS = """
CREATE TABLE numbers (id BIGINT, name STRING) WITH (
    'connector' = 'datagen', 'number-of-rows' = '4',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '4'
);
CREATE TABLE nothing (id BIGINT, name STRING) WITH ('connector' = 'blackhole');
"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


@pytest.fixture
def consoles():
    return [Console(file=io.StringIO(), width=100) for _ in range(2)]


def text(console):
    return console.file.getvalue()


def test_a_script_shows_results_and_waits_for_its_streams(spark, consoles):
    script = (
        f"{NUMBERS} {BATCH} SELECT id FROM numbers WHERE id > 2 ORDER BY id; RESET; INSERT INTO nothing TABLE numbers"
    )
    run_script(TableEnvironment(spark), script, *consoles)
    results, progress = map(text, consoles)
    assert re.search(r"\|\s*3 \|\n\|\s*4 \|\n\+-+\+\n2 rows in set", results)
    assert re.search(r"nothing\S*: ended, \d+ micro-batch", progress)


def test_a_stream_that_fails_ends_the_script(spark, consoles):
    failing = "INSERT INTO nothing SELECT id, raise_error('no such name') FROM numbers"
    with pytest.raises(StreamingQueryException, match="no such name"):
        run_script(TableEnvironment(spark), f"{NUMBERS} {failing}", *consoles)


def test_a_dry_run_plans_and_starts_nothing(spark, consoles, tmp_path):
    environment = TableEnvironment(spark, dry_run=True, catalog_store=str(tmp_path / "kept"))
    run_script(environment, f"{NUMBERS} INSERT INTO nothing SELECT * FROM numbers WHERE id > 2", *consoles)
    assert "changelogMode=[I]" in text(consoles[0])
    assert spark.streams.active == []
    assert not (tmp_path / "kept").exists()


def test_a_dry_run_names_the_place_of_a_mistake(spark, consoles):
    script = f"{NUMBERS}\nINSERT INTO nothing SELECT * FROM nmbers"
    with pytest.raises(SqlError, match=r"line \d+, column 35.*nmbers.*numbers") as error:
        run_script(TableEnvironment(spark, dry_run=True), script, *consoles)
    assert str(error.value).endswith(" " * 36 + "^")


def test_a_script_that_does_not_parse_ends_with_1_before_anything_runs():
    done = subprocess.run(
        [sys.executable, "-m", "millrace_cli", "sql", "-e", "CREATE TABEL t (a INT)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "line 1, column 8" in done.stderr
    assert "TABLE" in done.stderr


class Terminal:
    """A shell of ``millrace sql`` on a terminal of its own."""

    def __init__(self, *arguments, **environment):
        self.process_id, self.file = pty.fork()
        if self.process_id == 0:
            os.environ.update(environment)
            os.execv(sys.executable, [sys.executable, "-m", "millrace_cli", "sql", *arguments])
        self.output = ""

    def wait_for(self, pattern):
        def is_shown():
            if select.select([self.file], [], [], 0)[0]:
                self.output += ESCAPES.sub("", os.read(self.file, 65536).decode(errors="replace"))
            return re.search(pattern, self.output)

        wait_until(is_shown, f"{pattern!r} on the screen")
        match = re.search(pattern, self.output)
        self.output = self.output[match.end() :]
        return match

    def send(self, characters):
        os.write(self.file, characters.encode())

    def close(self):
        os.kill(self.process_id, signal.SIGKILL)
        os.close(self.file)


def test_ctrl_c_ends_a_query_and_not_the_shell(tmp_path):
    size = {"COLUMNS": "100", "LINES": "40"}
    environment = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_STATE_HOME": str(tmp_path), **size}
    terminal = Terminal("--ui", "--ui-port", "0", **environment)
    try:
        url = terminal.wait_for(r"the live page is at (http://127\.0\.0\.1:\d+/)")[1]
        assert json.load(urllib.request.urlopen(f"{url}api/page", timeout=60))["hasSession"]
        terminal.wait_for("sql>")
        terminal.send("CREATE TABLE n (id BIGINT) WITH (\r")
        terminal.wait_for(r"WITH \(\s+>")
        terminal.send("'connector' = 'datagen', 'rows-per-second' = '5');\r")
        terminal.wait_for("OK")
        terminal.send("SELECT id FROM n;\r")
        terminal.wait_for(r"[1-9]\d* rows?, \d+ changes?; Ctrl-C ends the query")
        terminal.send("\x03")
        terminal.wait_for("sql>")
        terminal.send("SHOW TAB\t")
        terminal.wait_for("SHOW TABLES")
        terminal.send(";\r")
        terminal.wait_for("1 row in set")
        terminal.send("exit;\r")
        _, status = os.waitpid(terminal.process_id, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    except BaseException:
        terminal.close()
        raise
    history = tmp_path / "millrace" / "sql_history"
    assert "SELECT id FROM n" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@pytest.fixture
def notebook(spark):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "millrace_sql")
    shell.push({"table_env": TableEnvironment(spark)})
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_shows_the_results_of_its_statements(notebook, capsys):
    notebook.run_cell_magic("millrace", "", f"{NUMBERS} {BATCH} SELECT count(*) AS n, '<b>' AS t FROM numbers")
    shown = capsys.readouterr().out
    assert "IPython.core.display.HTML object" in shown


def test_a_mistake_in_a_cell_is_one_message(notebook):
    with pytest.raises(UsageError, match=r"line 1, column 15: .*nmbers"):
        notebook.run_cell_magic("millrace", "", "SELECT * FROM nmbers")
