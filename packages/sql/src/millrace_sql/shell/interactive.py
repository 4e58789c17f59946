"""The interactive shell: statements of several lines, history, completion, Ctrl-C that ends the query only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

from millrace.api.query_progress import ProgressMonitor
from millrace.failures import sentence_of
from millrace_sql.errors import hide_secrets
from millrace_sql.parser import is_complete
from millrace_sql.shell.commands import HELP, WORDS, CommandName, split_commands
from millrace_sql.shell.completion import StatementCompleter
from millrace_sql.shell.results import show_result

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

    from millrace_sql.environment import TableEnvironment
    from millrace_sql.execution.results import TableResult

_PROMPT, _CONTINUED = "sql> ", "   > "


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
        self._ended: set[str] = set()
        self._commands: Mapping[CommandName, Callable[[str], None]] = {
            "clear": lambda _: console.clear(),
            "help": lambda _: self._say(HELP),
            "progress": lambda _: self._show_progress(),
            "source": self._run_file,
            "stop job": self._stop_job,
        }

    def run(self) -> None:
        """Run statements until the user leaves; streams that still run are stopped then."""
        self._say("millrace SQL. End a statement with ';', help; explains the keys.")
        while True:
            self._report_ended()
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
            self._say(f"Stopping {', '.join(str(query.name) for query in running)}")

    def _execute(self, text: str) -> bool:
        """Run what was typed; returns False when the user leaves."""
        try:
            for part in split_commands(text):
                if isinstance(part, str):
                    self._run(part)
                elif part.name == "leave":
                    return False
                else:
                    self._commands[part.name](part.argument)
        except KeyboardInterrupt:
            self._say("Interrupted")
        except Exception as error:
            self._report(sentence_of(error))
        return True

    def _run(self, text: str) -> None:
        for result in self._environment.iterate_script(text):
            if result.queries and not result.is_changelog:
                self._jobs.append(result)
            show_result(result, self._console)

    def _run_file(self, name: str) -> None:
        try:
            text = Path(name).expanduser().read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._report(f"SOURCE cannot read {name!r}: {error}")
        else:
            self._run(text)

    def _report_ended(self) -> None:
        """Tell which streams have ended since the last statement: nothing else does where one fails."""
        for job in self._jobs:
            for query in job.queries:
                if query.isActive or query.id in self._ended:
                    continue
                self._ended.add(query.id)
                failure = query.exception()
                if failure is not None:
                    self._report(f"{query.name} has failed: {sentence_of(failure)}")

    def _show_progress(self) -> None:
        queries = [query for job in self._jobs for query in job.queries]
        for query in queries:
            self._say(str(ProgressMonitor(query).read()))
        if not queries:
            self._say("No stream was started")

    def _stop_job(self, job_name: str) -> None:
        wanted = job_name.lower()
        jobs = [job for job in self._jobs if any(wanted in _names_of(query) for query in job.queries)]
        for job in jobs:
            client = job.get_job_client()
            if client is not None:
                client.cancel().result()
        self._say(f"Stopped {job_name}" if jobs else f"There is no job {job_name}; SHOW JOBS lists them")

    def _say(self, message: str) -> None:
        self._console.print(Text(message), soft_wrap=True)

    def _report(self, message: str) -> None:
        self._console.print(Text(message, "red"), soft_wrap=True)


def _names_of(query: StreamingQuery) -> tuple[str, str]:
    return str(query.name).lower(), str(query.id).lower()


def new_prompt(completer: Completer | None = None, *, history: Path | None = None) -> PromptSession[str]:
    """Return a prompt for statements: Enter goes on to the next line until a statement is complete.

    Args:
        completer: Completes what is typed; none by default.
        history: The file of the history; by default one in the user's folder for such files.
    """
    return PromptSession(
        history=new_history(history or user_state_path("millrace") / "sql_history"),
        lexer=PygmentsLexer(SqlLexer),
        completer=completer,
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        multiline=Condition(lambda: not _is_done(get_app().current_buffer.document.text)),
        prompt_continuation=lambda *_: _CONTINUED,
        key_bindings=_key_bindings(),
    )


def _is_done(text: str) -> bool:
    return is_complete(text) or text.strip().lower() in WORDS


def new_history(file: Path) -> FileHistory | InMemoryHistory:
    """Return a history that is kept in a file, without secrets; in memory if there can be no file."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Statements say much of a person's systems, even without their passwords
        file.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return _HistoryWithoutSecrets(str(file))


class _HistoryWithoutSecrets(FileHistory):
    """A history whose file has no secrets; what is typed can be called back as it was until the shell ends."""

    def store_string(self, string: str) -> None:
        """Write a statement to the file."""
        super().store_string(hide_secrets(string))


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
