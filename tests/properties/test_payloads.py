from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads

payloads = st.lists(st.none() | st.binary(max_size=20), max_size=30)


@given(payloads)
def test_a_list_survives_the_way_through_an_array(items: list[bytes | None]) -> None:
    assert list(Payloads(Payloads(items).to_array()).to_list()) == items


@given(payloads, st.integers(0, 30), st.integers(0, 30))
def test_a_slice_is_a_slice(items: list[bytes | None], start: int, length: int) -> None:
    part = Payloads(pa.array(items, pa.binary()).slice(min(start, len(items)), length))
    assert list(part.to_list()) == items[start : start + length]
    assert len(part) == len(items[start : start + length])
