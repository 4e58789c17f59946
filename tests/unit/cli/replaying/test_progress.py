"""Progress of replays, as offsets and their metadata."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.errors import ClientError
from millrace_cli.replaying.progress import MAX_METADATA, OffsetRanges, decode_progress, encode_progress

RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)).map(lambda each: (each[0], sum(each))), max_size=15)


@given(RANGES)
def test_ranges_are_the_set_of_their_offsets(ranges: list[tuple[int, int]]) -> None:
    found = OffsetRanges(ranges)
    assert {offset for offset in range(80) if offset in found} == {each for one in ranges for each in range(*one)}
    joined = list(found)
    assert all(stop < start for (_, stop), (start, _) in itertools.pairwise(joined))


@given(RANGES, st.integers(0, 40))
def test_progress_comes_back_from_an_offset_and_its_metadata(ranges: list[tuple[int, int]], begin: int) -> None:
    done = OffsetRanges((start, stop) for start, stop in ranges if start >= begin)
    offset, metadata = encode_progress(done, begin, "id-1")
    assert len(metadata) <= MAX_METADATA
    back = decode_progress(offset, metadata, "id-1")
    assert [each in back for each in range(begin, 80)] == [each in done for each in range(begin, 80)]
    # What is before the log's begin is nobody's any more
    assert offset >= begin
    assert offset not in back or offset == begin
    assert not list(decode_progress(offset, metadata, "id-2"))


def test_many_pieces_are_compressed_and_too_many_are_refused() -> None:
    every_second = OffsetRanges((offset, offset + 1) for offset in range(1, 20_000, 2))
    offset, metadata = encode_progress(every_second, 0, "id")
    assert list(decode_progress(offset, metadata, "id")) == list(every_second)
    scattered = OffsetRanges(
        (offset * offset + offset % 7, offset * offset + offset % 7 + 1) for offset in range(1, 9_000)
    )
    with pytest.raises(ClientError, match="more than a consumer group can remember: select ranges"):
        encode_progress(scattered, 0, "id")


@pytest.mark.parametrize("metadata", ["", "id x", "id 1+", "id z!", "id 1+2+3"])
def test_offsets_of_others_are_refused(metadata: str) -> None:
    with pytest.raises(ClientError, match="give another one by --group"):
        decode_progress(7, metadata, "id")
