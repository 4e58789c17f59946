"""Behaviour of pyruhvro, beyond its documentation, that the fast path relies on: fails first when it changes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace_formats.avro.pyruhvro_library import PyruhvroError, read_batch, write_batch
from millrace_formats.avro.schema.model import Fixed, Primitive, Record, RecordField, Union
from millrace_formats.avro.schema.pyruhvro_schema import message_schema
from unit.formats.avro.schemas import number, octets


def schema(*types: Any, is_framed: bool = False) -> str:
    return message_schema(
        Record("R", [RecordField(f"f{index}", type_) for index, type_ in enumerate(types)]), is_framed=is_framed
    )


def test_strings_may_hold_any_bytes() -> None:
    (column,) = read_batch([octets(b"\xff")], schema(Primitive("bytes"))).columns
    assert column.view(pa.binary()).to_pylist() == [b"\xff"]
    rows = pa.record_batch([pa.array([b"\xff"], pa.binary()).view(pa.string())], names=["f0"])
    assert write_batch(rows, schema(Primitive("bytes"))).to_pylist() == [octets(b"\xff")]


def test_floats_keep_their_bits() -> None:
    signaling_nan = b"\x01\x00\x80\x7f"
    batch = read_batch([signaling_nan], schema(Fixed("F", 4)))
    assert batch.column(0).field(0).buffers()[1].to_pybytes()[:4] == signaling_nan
    assert write_batch(batch, schema(Fixed("F", 4))).to_pylist() == [signaling_nan]


def test_a_frame_is_a_boolean_and_a_float() -> None:
    batch = read_batch([b"\0\0\0\0\7" + number(1)], schema(Primitive("long"), is_framed=True))
    assert batch.schema.names == ["magic", "id", "f0"]
    assert batch.column("f0").to_pylist() == [1]


def test_bytes_behind_the_value_are_ignored() -> None:
    assert read_batch([number(1) + b"\xff"], schema(Primitive("long"))).column(0).to_pylist() == [1]


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (Primitive("long"), b""),
        (Primitive("long"), b"\xff" * 10 + b"\1"),
        (Primitive("boolean"), b"\2"),
        (Primitive("string"), number(-1) + b"ab"),
        (Primitive("string"), number(2**40) + b"ab"),
        (Union((Primitive("null"), Primitive("long"))), number(-1)),
        (Union((Primitive("null"), Primitive("long"))), number(2)),
    ],
)
def test_malformed_messages_are_refused(type_: Any, message: bytes) -> None:
    with pytest.raises(PyruhvroError):
        read_batch([message], schema(type_))


def test_null_messages_and_columns_of_another_type_are_refused() -> None:
    with pytest.raises(PyruhvroError):
        read_batch([None], schema(Primitive("long")))
    with pytest.raises(PyruhvroError):
        write_batch(pa.record_batch([pa.array([1], pa.int32())], names=["f0"]), schema(Primitive("string")))
