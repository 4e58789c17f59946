"""``millrace plugins``: list the installed plugins."""

from __future__ import annotations

import sys

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def plugins(as_json: bool) -> None:
    """List the installed plugins, with the reason if one cannot be used.

    Each plugin is loaded. A plugin that only needs another package, usually an extra of its own, does not count as a
    failure. The exit code is 0 if all plugins can be loaded, 1 otherwise.

    \b
    --json prints one object:
      plugins   list of {kind, name, class, distribution, version, error, missing};
                error says why it cannot be loaded, missing what to install
                for it; both are null for a plugin that can be used
      failures  list of {entry_point, distribution, version, error}: packages
                whose plugins could not be listed
    """  # noqa: D301 - \b is click's mark for a paragraph that keeps its lines
    from millrace_cli.plugin_report import make_report

    report = make_report()
    if as_json:
        click.echo(report.to_json())
    else:
        for line in report.table_lines(coloured=sys.stdout.isatty()):
            click.echo(line)
        for line in report.problem_lines():
            click.echo(line, err=True)
    sys.exit(0 if report.is_sound else 1)
