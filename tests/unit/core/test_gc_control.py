from __future__ import annotations

import gc

import pytest

from millrace.gc_control import garbage_collection_paused


def test_garbage_collection_pauses_inside_the_block_only() -> None:
    was_enabled = []

    def fail() -> None:
        with garbage_collection_paused():
            was_enabled.append(gc.isenabled())
            raise ValueError("as the test wants")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="as the test wants"):
        fail()
    assert was_enabled == [False]
    assert gc.isenabled()


def test_garbage_collection_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with garbage_collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
