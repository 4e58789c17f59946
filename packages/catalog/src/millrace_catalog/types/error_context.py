"""Errors of a type that say whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import SchemaError
from millrace_catalog.types.names import quoted


@contextmanager
def in_column(name: str) -> Iterator[None]:
    """Let a SchemaError that is raised within say which column it is about."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"column {quoted(name)}: {error}") from None
