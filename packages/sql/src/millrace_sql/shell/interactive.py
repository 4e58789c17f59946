"""The interactive shell: statements of several lines, history, completion, Ctrl-C that ends the query only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer
from rich.console import Console
from rich.text import Text

from millrace_sql.parser import is_complete
from millrace_sql.shell.completion import StatementCompleter
from millrace_sql.shell.failures import sentence_of
from millrace_sql.shell.progress import ProgressMonitor
from millrace_sql.shell.results import show_result

if TYPE_CHECKING:
    from millrace_sql.environment import TableEnvironment
    from millrace_sql.execution.results import TableResult

_PROMPT, _CONTINUED = "sql> ", "   > "
_LEAVE = ("exit", "quit")
_HELP = """Type a statement of SQL, over as many lines as you like, and end it with ';'.
  Tab          completes keywords, tables, columns and options
  Ctrl-C       ends the running query, or drops what is typed
  Ctrl-D       leaves the shell, as exit; and quit; do
  SHOW JOBS;   lists the streams of INSERT
  STOP JOB 'name';   ends one, or those of a statement set
  PROGRESS;    tells how far they are"""


class Shell:
    """Read statements and show their results until the user leaves.

    Args:
        environment: Runs the statements.
        console: Where results are shown.
        prompt: Asks for input; by default the terminal's user, with a history that is kept.
    """

    def __init__(
        self, environment: TableEnvironment, console: Console, prompt: PromptSession[str] | None = None
    ) -> None:
        self._environment = environment
        self._console = console
        self._prompt = prompt or new_prompt(StatementCompleter(environment))
        self._jobs: list[TableResult] = []

    def run(self) -> None:
        """Run statements until the user leaves; streams that still run are stopped then."""
        self._console.print("millrace SQL. End a statement with ';', help; explains the keys.", highlight=False)
        while True:
            try:
                text = self._prompt.prompt(_PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            if not self._execute(text):
                break
        running = [query for job in self._jobs for query in job.queries if query.isActive]
        if running:
            self._console.print(f"Stopping {', '.join(str(query.name) for query in running)}", highlight=False)

    def _execute(self, text: str) -> bool:
        """Run what was typed; returns False when the user leaves."""
        word = text.strip().removesuffix(";").strip().lower()
        if word in _LEAVE:
            return False
        if word == "help":
            self._console.print(_HELP, highlight=False)
        elif word == "clear":
            self._console.clear()
        elif word == "progress":
            self._show_progress()
        elif word.startswith("stop job "):
            self._stop_job(word.removeprefix("stop job ").strip(" '\""))
        elif word:
            self._run(text)
        return True

    def _run(self, text: str) -> None:
        try:
            for result in self._environment.iterate_script(text):
                if result.queries and not result.is_changelog:
                    self._jobs.append(result)
                show_result(result, self._console)
        except KeyboardInterrupt:
            self._console.print("Interrupted")
        except Exception as error:
            self._console.print(Text(sentence_of(error), "red"), soft_wrap=True)

    def _show_progress(self) -> None:
        queries = [query for job in self._jobs for query in job.queries]
        for query in queries:
            self._console.print(Text(str(ProgressMonitor(query).read())), soft_wrap=True)
        if not queries:
            self._console.print("No stream was started", highlight=False)

    def _stop_job(self, name: str) -> None:
        found = [job for job in self._jobs if any(str(query.name).lower() == name for query in job.queries)]
        for job in found:
            client = job.get_job_client()
            if client is not None:
                client.cancel().result()
        self._console.print(f"Stopped {name}" if found else f"No stream is named {name}; SHOW JOBS lists them")


def new_prompt(completer: Completer | None = None, *, history: Path | None = None) -> PromptSession[str]:
    """Return a prompt for statements: Enter goes on to the next line until a statement is complete.

    Args:
        completer: Completes what is typed; none by default.
        history: The file of the history; by default one in the user's folder for such files.
    """
    return PromptSession(
        history=_history(history or user_state_path("millrace") / "sql_history"),
        lexer=PygmentsLexer(SqlLexer),
        completer=completer,
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        multiline=Condition(lambda: not _is_done(get_app().current_buffer.document.text)),
        prompt_continuation=lambda *_: _CONTINUED,
        key_bindings=_key_bindings(),
    )


def _is_done(text: str) -> bool:
    return is_complete(text) or text.strip().lower() in (*_LEAVE, "help", "clear", "progress")


def _history(file: Path) -> FileHistory | InMemoryHistory:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Statements may contain passwords
        file.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _key_bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("tab")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    return bindings
