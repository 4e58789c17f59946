"""``millrace sql``: run a script of SQL, or type statements."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import click

from millrace.options.secrets_file import read_secrets
from millrace_cli.parameters import NameValue, page_options
from millrace_sql.shell.start import Start

EXIT_INTERRUPTED = 130


@click.command()
@click.option("-f", "--file", "script", type=click.File("r", encoding="utf-8"), help="Run this script; - reads stdin.")
@click.option("-e", "--execute", "texts", multiple=True, metavar="TEXT", help="Run these statements; repeatable.")
@click.option("--dry-run", is_flag=True, help="Parse, resolve and plan the script without running it.")
@click.option("--catalog-store", metavar="FOLDER", help="Store definitions in this folder or URI for later sessions.")
@click.option("--set", "settings", type=NameValue(), multiple=True, help="Change a setting, like SET; repeatable.")
@click.option("--var", "variables", type=NameValue(), multiple=True, help="A value for ${NAME} in options; repeatable.")
@click.option(
    "--secrets",
    "secrets_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="MILLRACE_SQL_SECRETS",
    help="A file with a line NAME=VALUE for each ${secret_values.NAME} in options, which only its owner can read.",
)
@click.option("--conf", type=NameValue(), multiple=True, help="A setting of Spark, such as spark.master; repeatable.")
@page_options(is_on=False, port=4050)
def sql(
    script: IO[str] | None,
    texts: Sequence[str],
    dry_run: bool,
    catalog_store: str | None,
    settings: Sequence[tuple[str, str]],
    variables: Sequence[tuple[str, str]],
    secrets_file: Path | None,
    conf: Sequence[tuple[str, str]],
    ui_port: int | None,
) -> None:
    """Run SQL on tables of Kafka topics: a script, or what you type.

    The streams of a script run side by side, and the command ends when all of them have ended. The exit code is 0 on
    success, 1 if a statement or a stream failed, 2 for an invalid command line, and 130 after Ctrl-C.
    """
    if script is not None and texts:
        raise click.UsageError("give a script by -f or statements by -e, not both")
    text = script.read() if script is not None else _joined(texts) if texts else None
    if text is None and dry_run:
        raise click.UsageError("--dry-run needs a script: give it by -f or -e")
    if text is None and not sys.stdin.isatty():
        text = sys.stdin.read()
    start = Start(
        catalog_store,
        dict(settings),
        dict(variables),
        read_secrets(secrets_file) if secrets_file else {},
        dict(conf),
        ui_port,
    )
    try:
        _run(text, start, dry_run=dry_run)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _joined(texts: Sequence[str]) -> str:
    """Put statements together, each of which may lack its ``;`` or end with a comment."""
    return "\n;\n".join(text.rstrip().removesuffix(";") for text in texts)


def _run(text: str | None, start: Start, *, dry_run: bool) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from rich.console import Console

    from millrace.failures import sentence_of
    from millrace_sql.errors import SqlError
    from millrace_sql.parser import parse
    from millrace_sql.shell.session import environment_for

    if text is not None:
        parse(text)  # before Spark takes its seconds to start
    with environment_for(start, dry_run=dry_run) as session:
        console = Console()
        if session.page_url is not None:
            Console(stderr=True).print(f"the live page is at {session.page_url}", soft_wrap=True)
        if text is None:
            from millrace_sql.shell.interactive import Shell

            Shell(session.environment, console).run()
            return
        from millrace_sql.shell.scripts import run_script

        try:
            run_script(session.environment, text, console, Console(stderr=True), before_stop=session.drop_output)
        except (PySparkException, Py4JError) as error:
            raise SqlError(sentence_of(error)) from error
