"""`millrace plugins`: what is installed, and what of it cannot be used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from millrace_cli.plugin_report import PluginReport


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def plugins(as_json: bool) -> None:
    """List the installed plugins, and say why one cannot be used.

    Exit code 0 when all of them can be used, 1 when one cannot.

    \b
    --json prints one object:
      plugins   list of {kind, name, class, distribution, version, error};
                error is null for a plugin that can be used
      failures  list of {entry_point, distribution, version, error}: packages
                whose plugins could not even be listed
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    from millrace_cli.plugin_report import make_report

    report = make_report()
    if as_json:
        click.echo(report.to_json())
    else:
        _show(report)
    sys.exit(0 if report.all_usable else 1)


def _show(report: PluginReport) -> None:
    from millrace_cli.plugin_table import problem_lines, table_lines

    for line in table_lines(report, coloured=sys.stdout.isatty()):
        click.echo(line)
    for line in problem_lines(report):
        click.echo(line, err=True)
