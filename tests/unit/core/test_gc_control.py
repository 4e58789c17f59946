from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from types import ModuleType

import pytest

from millrace.gc_control import LoadedObjects, garbage_collection_paused, resuming_garbage_collection


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    """Begin as a process that has frozen nothing, and leave it like that."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_objects_are_frozen_when_modules_were_loaded_since_the_last_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = LoadedObjects()
    loaded.freeze()
    loaded_first = gc.get_freeze_count()
    assert loaded_first > 10_000

    later = [[] for _ in range(5_000)]
    loaded.freeze()
    assert gc.get_freeze_count() < loaded_first + 1_000

    monkeypatch.setitem(sys.modules, "loaded_by_a_later_task", ModuleType("loaded_by_a_later_task"))
    loaded.freeze()
    assert gc.get_freeze_count() > loaded_first + 4_000
    assert len(later) == 5_000


def test_garbage_is_freed_before_the_rest_is_frozen() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    marker = type("Marker", (), {})()
    cycle.append(marker)
    alive = weakref.ref(marker)
    del cycle, marker

    LoadedObjects().freeze()

    assert alive() is None


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


def test_garbage_collection_goes_on_while_the_caller_has_an_item() -> None:
    inside = []

    def paused() -> Iterator[int]:
        with garbage_collection_paused():
            for number in range(3):
                inside.append(gc.isenabled())
                yield number

    assert [gc.isenabled() for _ in resuming_garbage_collection(paused())] == [True] * 3
    assert inside == [False] * 3
    assert gc.isenabled()


def test_a_generator_that_is_abandoned_resumes_garbage_collection() -> None:
    def paused() -> Iterator[int]:
        with garbage_collection_paused():
            yield from range(3)

    items = resuming_garbage_collection(paused())
    next(items)
    items.close()

    assert gc.isenabled()
