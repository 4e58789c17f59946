"""``millrace convert``: translate the options of one Kafka connector or client into those of another."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import click

from millrace_cli.errors import CommandError


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8"), default="-")
@click.option("--from", "source", metavar="DIALECT", help="Dialect of FILE; by default it is recognized.")
@click.option("--to", "target", metavar="DIALECT", default="millrace", show_default=True, help="Dialect to write.")
@click.option("--read", "side", flag_value="read", help="The options are for a read.")
@click.option("--write", "side", flag_value="write", help="The options are for a write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File to write, which only its owner may read; by default standard output.",
)
@click.option("--check", is_flag=True, help="Only report, and exit with 1 if something is dropped or yours to decide.")
def convert(
    file: IO[str], source: str | None, target: str, side: str | None, output: Path | None, *, check: bool
) -> None:
    r"""Translate the options of one Kafka connector or client into those of another.

    \b
    java      properties of Kafka's Java clients: lines name=value
    spark     options of Spark's own connector: JSON, lines name=value, or a read or a write in Python
    flink     the WITH clause of a table of Flink SQL: a CREATE TABLE statement, or its options alone
    connect   the configuration of a connector of Kafka Connect, in JSON
    millrace  options of millrace: as for spark

    FILE is parsed and never executed; - is standard input. A report on standard error has a line for options that
    belong together: same, translated, dropped because the other side has none, or yours to decide because only you know
    what they are for. The last two are not written.

    Secrets are written where they stand in FILE, but neither in the report nor to a terminal.
    """
    from millrace_cli.converting.conversion import convert as convert_options
    from millrace_cli.converting.dialect import Side
    from millrace_cli.converting.dialects import load_dialect, recognize
    from millrace_cli.converting.report import to_lines

    text = _read(file)
    dialect = load_dialect(source) if source else recognize(text)
    other = load_dialect(target)
    conversion = convert_options(dialect.parse(text), dialect, other, Side(side) if side else None)
    stream = sys.stdout if check else sys.stderr
    click.echo("\n".join(to_lines(conversion, coloured=stream.isatty())), file=stream)
    if check:
        sys.exit(0 if conversion.is_complete else 1)
    _write(conversion.options, other.format, output)


def _read(file: IO[str]) -> str:
    try:
        return file.read()
    except UnicodeDecodeError:
        # Without a cause, whose message would show the content
        raise CommandError(f"{file.name} is not in UTF-8") from None


def _write(options: dict[str, str], format_options: Callable[[Mapping[str, str]], str], output: Path | None) -> None:
    from millrace_cli.converting.report import has_secrets, masked

    if output is not None:
        try:
            _write_private(output, format_options(options))
        except OSError as error:
            raise CommandError(f"{output} cannot be written: {error.strerror}") from error
    elif sys.stdout.isatty() and has_secrets(options):
        click.echo(format_options(masked(options)), nl=False)
        click.echo("secrets are not shown on a terminal: write them to a file by -o", err=True)
    else:
        click.echo(format_options(options), nl=False)


def _write_private(output: Path, text: str) -> None:
    file = output.resolve()
    if file.exists() and not file.is_file():
        # A device or a pipe would need other rights, for all who use it
        raise CommandError(f"{output} is not a regular file")
    # It is for its owner from the beginning, and takes the place of an older file only when it is whole
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(descriptor)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink()
        raise
