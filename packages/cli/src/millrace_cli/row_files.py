"""Write rows to a file, all of them or none, or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import click
import pyarrow as pa

from millrace_cli.errors import CommandError
from millrace_cli.tables import json_lines

if TYPE_CHECKING:
    from millrace.api.arrow import ArrowReader
    from millrace_cli.row_filter import RowFilter

_ROW_GROUP_ROWS, _ROW_GROUP_BYTES = 100_000, 64 << 20
"""A row group of Parquet has about as many rows, or as many bytes: each of them costs its readers time."""


class RowFileWriter(Protocol):
    """Write rows in one form."""

    def write(self, rows: pa.Table) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what is left."""


@contextmanager
def open_rows(path: Path | None, schema: pa.Schema) -> Iterator[RowFileWriter]:
    """Open a file for rows, which appears under its name when all are written.

    Args:
        path: The file, whose ending tells the form; None for JSON Lines on standard output.
        schema: The columns.

    Raises:
        CommandError: There is no such form, it cannot have the columns, or the file cannot be written.
    """
    if path is None:
        yield _PrintedLines()
        return
    open_writer = _writer_for(path, schema)
    with new_file(path) as file, closing(open_writer(file, schema)) as writer:
        yield writer


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing, which appears under its name when the block ends without an error.

    Args:
        path: The file; one of this name is replaced.

    Raises:
        CommandError: The file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()


def copy_rows(reader: ArrowReader, path: Path | None, condition: RowFilter | None, limit: int | None) -> int:
    """Write the rows of a read.

    Args:
        reader: The read.
        path: As for `open_rows`.
        condition: The rows to write; None for all.
        limit: How many of them at most; None for all.

    Returns:
        The number of rows.

    Raises:
        CommandError: As `open_rows`, or the condition does not fit the columns.
        MillraceError: The topic cannot be read.
    """
    written = 0
    with open_rows(path, reader.schema) as writer, closing(iter(reader)) as batches:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            rows = rows if condition is None else condition.apply(rows)
            rows = rows if limit is None else rows.slice(0, limit - written)
            writer.write(rows)
            written += rows.num_rows
            if written == limit:
                break
    return written


def check_form(path: Path) -> None:
    """Check that a file's ending names a form.

    Raises:
        CommandError: It does not.
    """
    if path.suffix.lower() not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise CommandError(f"--output: expected a file that ends with one of {known}, got {str(path)!r}")


def _writer_for(path: Path, schema: pa.Schema) -> Callable[[IO[bytes], pa.Schema], RowFileWriter]:
    check_form(path)
    if path.suffix.lower() == ".csv":
        for field in schema:
            if pa.types.is_nested(field.type):
                raise CommandError(
                    f"column {field.name} is {field.type}, which csv cannot have: write .jsonl or .parquet, or name "
                    f"the other columns with --schema"
                )
    return _WRITERS[path.suffix.lower()]


class _PrintedLines:
    def write(self, rows: pa.Table) -> None:
        for line in json_lines(rows):
            click.echo(line)
        sys.stdout.flush()

    def close(self) -> None:
        pass


class _JsonLines:
    def __init__(self, file: IO[bytes], _: pa.Schema) -> None:
        self._file = file

    def write(self, rows: pa.Table) -> None:
        self._file.writelines(f"{line}\n".encode() for line in json_lines(rows))

    def close(self) -> None:
        pass


class _Csv:
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        from pyarrow.csv import CSVWriter

        self._writer = CSVWriter(file, schema)

    def write(self, rows: pa.Table) -> None:
        try:
            self._writer.write(rows)
        except pa.ArrowInvalid as error:
            raise CommandError(f"a row cannot be written as csv: {error}; write .jsonl or .parquet") from error

    def close(self) -> None:
        self._writer.close()


class ParquetRows:
    """Write rows as Parquet, in row groups of a good size.

    Args:
        file: The file.
        schema: The columns.
    """

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        from pyarrow.parquet import ParquetWriter

        self._writer = ParquetWriter(file, schema)
        self._schema = schema
        self._waiting: list[pa.Table] = []

    def write(self, rows: pa.Table) -> None:
        """Write some rows."""
        self._waiting.append(rows)
        count, size = sum(table.num_rows for table in self._waiting), sum(table.nbytes for table in self._waiting)
        if count >= _ROW_GROUP_ROWS or size >= _ROW_GROUP_BYTES:
            self._write_group()

    def add_metadata(self, name: str, text: str) -> None:
        """Add an entry to the file's key-value metadata."""
        self._writer.add_key_value_metadata({name: text})

    def close(self) -> None:
        """Write what is left."""
        if self._waiting:
            self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting.clear()


_WRITERS: dict[str, Callable[[IO[bytes], pa.Schema], RowFileWriter]] = {
    ".jsonl": _JsonLines,
    ".parquet": ParquetRows,
    ".csv": _Csv,
}
