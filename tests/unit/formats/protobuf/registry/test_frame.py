"""The frame of protobuf messages behind a registry, and frames that are none."""

from __future__ import annotations

import pytest

from millrace.errors import MalformedMessageError
from millrace_formats.protobuf.registry.frame import message_frame, message_path, split_message


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ([0], b"\0\0\0\0\7\0"),
        ([1], b"\0\0\0\0\7\2\2"),
        ([0, 0], b"\0\0\0\0\7\4\0\0"),
        ([2, 64], b"\0\0\0\0\7\4\4\x80\1"),
    ],
)
def test_the_path_is_written_as_in_confluents_documentation(path: list[int], frame: bytes) -> None:
    assert message_frame(7, path) == frame
    assert split_message(frame + b"rest") == (frame, b"rest")
    assert list(message_path(frame)) == path


def test_the_long_form_of_the_first_message_is_read_too() -> None:
    assert message_path(split_message(b"\0\0\0\0\7\2\0x")[0]) == (0,)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "expected the frame of a schema registry"),
        (b"\0\0\0\0", "expected the frame of a schema registry"),
        (b"\1\0\0\0\7\0", "expected the frame of a schema registry"),
        (b"\0\0\0\0\7", "its frame ends within the message indexes"),
        (b"\0\0\0\0\7\2", "its frame ends within the message indexes"),
        (b"\0\0\0\0\7\1", "its frame has -1 message indexes"),
        (b"\0\0\0\0\7\xff\xff\xff\xff\x0f", "its frame has -2147483648 message indexes"),
        (b"\0\0\0\0\7\xfe\xff\xff\xff\x0f", "its frame has 2147483647 message indexes"),
        (b"\0\0\0\0\7\xff\xff\xff\xff\xff\1", "a message index of more than 32 bits"),
    ],
)
def test_hostile_frames_are_malformed(payload: bytes, reason: str) -> None:
    with pytest.raises(MalformedMessageError, match=reason):
        split_message(payload)
