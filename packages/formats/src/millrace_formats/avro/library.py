"""The library behind the fast paths, pyruhvro, and the ends that it can come to."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pyarrow as pa

from millrace.errors import MachineError

_PANIC = "PanicException"


class LibraryRefusedError(Exception):
    """The library could not read or write a batch; says nothing of which message."""


def check_installed(format_name: str) -> None:
    """Refuse a format whose library is missing.

    Raises:
        MachineError: Says how to install it.
    """
    _library(format_name)


def read_batch(items: Sequence[bytes | None], schema: str) -> pa.RecordBatch:
    """The messages as a batch of one row each.

    Raises:
        LibraryRefusedError: It cannot read one of them, or one is no bytes at all.
    """
    wanted = items if isinstance(items, list) else list(items)
    return _guarded(lambda library: library.deserialize_array(wanted, schema))


def write_batch(rows: pa.RecordBatch, schema: str) -> pa.BinaryArray:
    """The rows as a message each.

    Raises:
        LibraryRefusedError: It cannot write one of them.
    """
    return _guarded(lambda library: library.serialize_record_batch(rows, schema, 1)[0])


def _guarded(call: Any) -> Any:
    try:
        return call(_library("avro"))
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise LibraryRefusedError(str(error)) from error
    except BaseException as error:
        # A panic in Rust is no Exception, so that nobody should catch it by accident
        if type(error).__name__ != _PANIC:
            raise
        raise LibraryRefusedError(str(error)) from None


def _library(format_name: str) -> ModuleType:
    try:
        import pyruhvro
    except ImportError as error:
        raise MachineError(
            f"format {format_name!r} needs a library that is not installed ({error}): "
            f"pip install 'millrace-formats[{_extra(format_name)}]'"
        ) from None
    return pyruhvro


def _extra(format_name: str) -> str:
    return "avro" if format_name == "avro" else "avro-confluent"
