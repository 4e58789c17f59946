"""Frames that name the schema of a message."""

from __future__ import annotations

from uuid import UUID

import pytest

from millrace.errors import MalformedMessageError
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.registry.frame import frame_of, schema_id_of, split_frame


def test_a_frame_names_a_schema_by_its_id() -> None:
    assert schema_id_of(frame_of(7) + b"body") == 7


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"\1" + bytes(15), "expected the frame of a schema registry, .* found 01 00 00 00 00"),
        (b"\0\0", "expected the frame of a schema registry, .* found 00 00"),
        (b"\1\0\0\0\1x", "expected the frame of a schema registry, .* found 01 00 00 00 01"),
        (b"{}", "found 7b 7d"),
    ],
)
def test_other_frames_are_malformed(payload: bytes, problem: str) -> None:
    with pytest.raises(MalformedMessageError, match=problem):
        schema_id_of(payload)


def test_a_frame_may_name_a_schema_by_its_guid() -> None:
    guid = UUID("89791762-2336-186f-9674-299b90a8e2e2")
    message = b"\1" + guid.bytes + b"body"
    assert schema_id_of(message) == guid
    assert split_frame(message) == (message[:17], b"body")
    assert split_frame(frame_of(7) + b"body") == (frame_of(7), b"body")


@pytest.mark.parametrize(("is_key", "name"), [(False, "__value_schema_id"), (True, "__key_schema_id")])
def test_the_frame_may_be_in_a_header(is_key: bool, name: str) -> None:
    assert AvroConfluentFormat(AvroRegistryOptions(url="http://a")).schema_header(is_key=is_key) == name
