"""The conformance suite for formats of changes finds what is wrong with a format."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from millrace.contracts import ChangelogFormat, Decoded, Decoder, Encoder, Payloads
from millrace.testing import ChangelogFormatSuite
from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat

SCHEMA = pa.schema([("a", pa.int64())])
Fault = Callable[[Decoded], Decoded]


class FaultyDecoder(Decoder):
    def __init__(self, fault: Fault, sound: Decoder) -> None:
        self._fault = fault
        self._sound = sound

    def decode(self, payloads: Payloads) -> Decoded:
        return self._fault(self._sound.decode(payloads))


class EveryKind(Encoder):
    """A format that accepts any text as a row kind."""

    def __init__(self, sound: Encoder) -> None:
        self._sound = sound

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        if row_kinds is None:
            return self._sound.encode(rows)
        deleted = pc.is_in(row_kinds, pa.array(["-U", "-D"]))
        return self._sound.encode(rows, pc.if_else(deleted, "-D", "+I"))


def suite_of(fault: Fault, encoder: Callable[[Encoder], Encoder] = lambda sound: sound) -> ChangelogFormatSuite:
    class FaultyFormat(MaxwellJsonFormat):
        def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
            return FaultyDecoder(fault, super().decoder(schema, metadata))

        def encoder(self, schema: pa.Schema) -> Encoder:
            return encoder(super().encoder(schema))

    class Suite(ChangelogFormatSuite):
        bad = (b"x",)
        changes = (b'{"type":"update","data":{"a":1},"old":{"a":2},"table":"t","ts":1}',)
        kinds_read: ClassVar[Mapping[str, str]] = {"-U": "-D", "+U": "+I"}

        def make_format(self) -> ChangelogFormat:
            return FaultyFormat()

        def schema(self) -> pa.Schema:
            return SCHEMA

        def rows(self) -> pa.RecordBatch:
            return pa.record_batch([[1, 2, None]], schema=SCHEMA)

    return Suite()


def failing(suite: ChangelogFormatSuite) -> set[str]:
    found = set()
    for name in dir(suite):
        if name.startswith("test_"):
            try:
                getattr(suite, name)()
            except (Exception, pytest.fail.Exception):
                found.add(name)
    return found


def all_inserted(decoded: Decoded) -> Decoded:
    return dataclasses.replace(decoded, row_kinds=None)


def kinds_reversed(decoded: Decoded) -> Decoded:
    kinds = pa.array((decoded.row_kinds or pa.array([])).to_pylist()[::-1], pa.string())
    return dataclasses.replace(decoded, row_kinds=kinds)


def metadata_reversed(decoded: Decoded) -> Decoded:
    metadata = decoded.metadata
    return (
        decoded
        if metadata is None
        else dataclasses.replace(decoded, metadata=metadata.take(list(range(metadata.num_rows))[::-1]))
    )


def without_metadata(decoded: Decoded) -> Decoded:
    return dataclasses.replace(decoded, metadata=None)


def as_text(decoded: Decoded) -> Decoded:
    metadata = decoded.metadata
    if metadata is None:
        return decoded
    return dataclasses.replace(
        decoded, metadata=metadata.set_column(3, metadata.schema.names[3], metadata.column(3).cast(pa.string()))
    )


def rows_of_one_message_at_another(decoded: Decoded) -> Decoded:
    index = pa.array(range(decoded.rows.num_rows), pa.int32())
    return dataclasses.replace(decoded, message_index=index)


def test_a_sound_format_passes() -> None:
    assert failing(suite_of(lambda decoded: decoded)) == set()


@pytest.mark.parametrize(
    ("fault", "found_by"),
    [
        (all_inserted, "test_row_kinds_are_read_as_they_are_written"),
        (kinds_reversed, "test_row_kinds_stay_with_their_rows"),
        (metadata_reversed, "test_metadata_stays_with_its_rows"),
        (without_metadata, "test_metadata_can_be_asked_for"),
        (as_text, "test_metadata_is_of_the_types_that_the_format_says"),
        (rows_of_one_message_at_another, "test_messages_with_several_rows_shift_no_other"),
    ],
)
def test_a_faulty_format_does_not(fault: Fault, found_by: str) -> None:
    assert found_by in failing(suite_of(fault))


def test_an_encoder_that_takes_any_row_kind_does_not() -> None:
    assert failing(suite_of(lambda decoded: decoded, EveryKind)) == {"test_row_kinds_that_are_none_are_refused"}
