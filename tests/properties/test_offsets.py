from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from millrace.checkpoint import StreamOffset
from millrace.contracts import TopicPartition

offsets = st.dictionaries(
    st.builds(TopicPartition, st.text("abz09._-", min_size=1, max_size=8), st.integers(0, 10**5)),
    st.integers(0, 2**63 - 1),
    max_size=12,
)
ids = st.dictionaries(
    st.text("abz09._-", min_size=1, max_size=8), st.text("aZ9-_", min_size=22, max_size=22), max_size=4
)
stream_offsets = st.builds(StreamOffset, offsets, offsets, offsets, ids, leader_epochs=offsets)


@given(stream_offsets)
def test_an_offset_survives_the_checkpoint(offset: StreamOffset) -> None:
    assert StreamOffset.from_json(json.loads(json.dumps(offset.to_json()))) == offset


@given(stream_offsets)
def test_equal_offsets_have_equal_texts(offset: StreamOffset) -> None:
    def turned(part: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
        return dict(reversed(part.items()))

    other = StreamOffset(
        turned(dict(offset.positions)),
        turned(dict(offset.start_overrides)),
        turned(dict(offset.stopping_offsets)),
        dict(reversed(offset.topic_ids.items())),
        leader_epochs=turned(dict(offset.leader_epochs)),
    )
    assert json.dumps(other.to_json()) == json.dumps(offset.to_json())
