"""Commands of the interactive shell, which are no statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CommandName = Literal["clear", "help", "leave", "progress", "source", "stop job"]

WORDS = ("clear", "exit", "help", "progress", "quit")
"""Commands that need no ``;``."""

HELP = """Type a statement of SQL, over as many lines as you like, and end it with ';'.
  Tab                  completes keywords, tables, columns and options
  Ctrl-C               ends the running query, or drops what is typed
  Ctrl-D               leaves the shell, as exit; and quit; do
  SOURCE 'file.sql';   runs a script
  SHOW JOBS;           lists the streams of INSERT
  STOP JOB 'job';      ends one, by its name or id, or those of a statement set
  PROGRESS;            shows their progress
  CLEAR;               clears the screen"""

_ARGUMENT = r"(?:'(?P<quoted>[^']*)'|\"(?P<double_quoted>[^\"]*)\"|(?P<plain>[^\s;'\"]+))"
_SOURCE = re.compile(rf"source\s+{_ARGUMENT}", re.IGNORECASE)
_STOP_JOB = re.compile(rf"stop\s+job\s+{_ARGUMENT}(?P<savepoint>\s+with\s.*)?", re.IGNORECASE | re.DOTALL)
_LEAVES_LAST = re.compile(r"(?P<statements>.*;)\s*(?:exit|quit)\s*;?\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        name: Its name.
        argument: What it is given: a file, a job; empty for others.
    """

    name: CommandName
    argument: str = ""


def split_commands(text: str) -> Sequence[Command | str]:
    """Return what was typed as a command, as statements, or as statements and the command to leave after them.

    Raises:
        ValueError: A command has what this shell does not know.
    """
    stripped = text.strip().removesuffix(";").strip()
    word = stripped.lower()
    if word in ("exit", "quit"):
        return [Command("leave")]
    if word in ("clear", "help", "progress"):
        return [Command(word)]  # type: ignore[arg-type] # one of them
    if match := _SOURCE.fullmatch(stripped):
        return [Command("source", _argument(match))]
    if match := _STOP_JOB.fullmatch(stripped):
        if match["savepoint"]:
            message = "STOP JOB has no savepoints: a stream has a checkpoint, and the statement continues from it"
            raise ValueError(message)
        return [Command("stop job", _argument(match))]
    if match := _LEAVES_LAST.fullmatch(text):
        return [match["statements"], Command("leave")]
    return [text] if stripped else []


def _argument(match: re.Match[str]) -> str:
    return match["quoted"] or match["double_quoted"] or match["plain"] or ""
