"""Call pyruhvro, and translate the ways in which it fails."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pyarrow as pa

from millrace.errors import MachineError

_PANIC = "PanicException"


class PyruhvroError(Exception):
    """pyruhvro could not read or write a batch; it does not say which message is to blame."""


def check_installed(format_name: str) -> None:
    """Refuse a format one of whose libraries is missing.

    Raises:
        MachineError: Says how to install it.
    """
    _import(format_name)


def read_batch(payloads: Sequence[bytes | None], schema: str) -> pa.RecordBatch:
    """Read messages as a batch of one row each.

    Raises:
        PyruhvroError: One of them cannot be read, or is None.
    """
    messages = payloads if isinstance(payloads, list) else list(payloads)
    return _call(lambda pyruhvro: pyruhvro.deserialize_array(messages, schema))


def write_batch(rows: pa.RecordBatch, schema: str) -> pa.BinaryArray:
    """Write each row as a message.

    Raises:
        PyruhvroError: One of them cannot be written.
    """
    return _call(lambda pyruhvro: pyruhvro.serialize_record_batch(rows, schema, 1)[0])


def _call(function: Any) -> Any:
    try:
        return function(_import("avro"))
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise PyruhvroError(str(error)) from error
    except BaseException as error:
        # A panic in Rust is a BaseException whose class cannot be imported
        if type(error).__name__ != _PANIC:
            raise
        raise PyruhvroError(str(error)) from None


def _import(format_name: str) -> ModuleType:
    try:
        import fastavro  # noqa: F401 - the same extra has it, for the writer
        import pyruhvro
    except ImportError as error:
        extra = "avro" if format_name == "avro" else "avro-confluent"
        raise MachineError(
            f"format {format_name!r} needs a library that is not installed ({error}): "
            f"pip install 'millrace-formats[{extra}]'"
        ) from None
    return pyruhvro
