"""The plugins as a table for people."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from millrace_cli.plugin_report import PluginReport

_PIPE_WIDTH = 1000
"""Characters; where nobody looks at a terminal, a row is one line whatever its length."""


def table_lines(report: PluginReport, *, coloured: bool) -> list[str]:
    """The table, line by line.

    Args:
        report: What to show.
        coloured: For a terminal: in its width and with colours. Otherwise one plain line for each plugin.
    """
    if not report.plugins:
        return ["no plugins are installed; the standard ones come with: pip install millrace"]
    table = Table(box=box.SIMPLE_HEAD if coloured else None, pad_edge=False, header_style="bold")
    for heading in ("kind", "name", "class", "distribution", "version", "state"):
        table.add_column(heading, overflow="fold")
    for entry, problem in report.plugins:
        state = Text("cannot be used", "red") if problem else Text("ok", "green")
        table.add_row(entry.kind.name, entry.name, entry.target, entry.distribution, entry.version, state)
    console = Console() if coloured else Console(file=io.StringIO(), width=_PIPE_WIDTH)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def problem_lines(report: PluginReport) -> Iterator[str]:
    """One sentence for each problem; the same one for several plugins is said once."""
    problems = [problem for _, problem in report.plugins if problem]
    problems += [f"plugin package {failure}" for failure in report.failures]
    for problem in dict.fromkeys(problems):
        yield f"millrace: {problem}"
