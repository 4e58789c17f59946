"""Errors of one table, which others need not stop for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import SchemaError


@contextmanager
def blamed_on(table: str) -> Iterator[None]:
    """Blame errors of columns on a table of the sink.

    Args:
        table: Its id.

    Raises:
        SchemaError: The table cannot have its columns; it is the ``failed_table``.
    """
    try:
        yield
    except SchemaError as error:
        error.failed_table = table
        raise
