"""The conformance suite for formats finds what is wrong with a format."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pyarrow as pa
import pytest

from millrace.contracts import Decoded, Decoder, Format, Payloads
from millrace.testing import FormatSuite
from millrace_formats.json import JsonFormat

SCHEMA = pa.schema([("a", pa.int64())])
Fault = Callable[[Decoded, Payloads], Decoded]


class FaultyDecoder(Decoder):
    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._sound = JsonFormat().decoder(SCHEMA)

    def decode(self, payloads: Payloads) -> Decoded:
        return self._fault(self._sound.decode(payloads), payloads)


def suite_of(fault: Fault) -> FormatSuite:
    class FaultyFormat(JsonFormat):
        def decoder(self, schema: pa.Schema) -> Decoder:
            return FaultyDecoder(fault)

    class Suite(FormatSuite):
        bad = (b"x",)

        def make_format(self) -> Format:
            return FaultyFormat()

        def schema(self) -> pa.Schema:
            return SCHEMA

        def rows(self) -> pa.RecordBatch:
            return pa.record_batch([[1, 2, None]], schema=SCHEMA)

    return Suite()


def failing(fault: Fault) -> set[str]:
    suite = suite_of(fault)
    found = set()
    for name in dir(suite):
        if name.startswith("test_"):
            try:
                getattr(suite, name)()
            except Exception:
                found.add(name)
    return found


def shifted(decoded: Decoded, payloads: Payloads) -> Decoded:
    """Rows numbered as if no message were without one."""
    return dataclasses.replace(decoded, message_index=pa.array(range(decoded.rows.num_rows), pa.int32()))


def silent(decoded: Decoded, payloads: Payloads) -> Decoded:
    """MalformedRecord messages left out without a word."""
    return dataclasses.replace(decoded, errors=())


def raising(decoded: Decoded, payloads: Payloads) -> Decoded:
    if decoded.errors:
        raise ValueError(decoded.errors[0].reason)
    return decoded


def renamed(decoded: Decoded, payloads: Payloads) -> Decoded:
    return dataclasses.replace(decoded, rows=decoded.rows.rename_columns(["b"]))


def changed(decoded: Decoded, payloads: Payloads) -> Decoded:
    rows = pa.record_batch([pa.array([7] * decoded.rows.num_rows, pa.int64())], schema=SCHEMA)
    return dataclasses.replace(decoded, rows=rows)


def test_a_sound_format_passes() -> None:
    assert failing(lambda decoded, payloads: decoded) == set()


@pytest.mark.parametrize(
    ("fault", "found_by"),
    [
        (shifted, "test_bad_payloads_are_errors_and_shift_no_row"),
        (shifted, "test_null_payloads"),
        (silent, "test_bad_payloads_are_errors_and_shift_no_row"),
        (raising, "test_garbage_never_raises"),
        (renamed, "test_no_messages"),
        (changed, "test_rows_are_read_as_they_are_written"),
    ],
)
def test_a_faulty_format_does_not(fault: Fault, found_by: str) -> None:
    assert found_by in failing(fault)
