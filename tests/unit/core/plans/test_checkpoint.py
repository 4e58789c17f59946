"""The place in a checkpoint where a query goes on."""

from __future__ import annotations

import json

import pytest

from millrace.configuration.build import configure_source
from millrace.errors import MillraceError
from millrace.plans.checkpoint import read_checkpoint

OPTIONS = configure_source({"properties.bootstrap.servers": "h:1", "topic": "a"}).options


@pytest.fixture(params=["v1", "v2"])
def write(request, tmp_path):
    """Write a checkpoint, in each version of Spark's offset log."""

    def write(begun: dict[int, list[dict]], done: tuple[int, ...]) -> str:
        for name in ("offsets", "commits"):
            (tmp_path / name).mkdir()
        for batch, sources in begun.items():
            texts = [json.dumps(each) for each in sources]
            if request.param == "v2":
                texts = [f"{name}:{text}" for name, text in zip(("messages", "other_2"), texts, strict=False)]
            lines = [request.param, "{}", *texts]
            (tmp_path / "offsets" / str(batch)).write_text("\n".join(lines))
        for batch in done:
            (tmp_path / "commits" / str(batch)).write_text("v1\n{}")
        return str(tmp_path)

    return write


def at(offset: int, topic: str = "a") -> dict:
    return {"v": 1, "topics": {topic: {"0": offset}}}


def test_an_empty_folder_has_no_checkpoint(tmp_path):
    assert read_checkpoint(str(tmp_path), OPTIONS) is None


def test_it_goes_on_behind_what_is_done(write):
    state = read_checkpoint(write({0: [at(3)], 1: [at(5)]}, (0, 1)), OPTIONS)
    assert (state.batch, list(state.start.positions.values()), state.repeated_end) == (2, [5], None)


def test_what_was_begun_is_repeated(write):
    state = read_checkpoint(write({0: [at(3)], 1: [at(5)]}, (0,)), OPTIONS)
    assert (state.batch, list(state.start.positions.values())) == (1, [3])
    assert list(state.repeated_end.positions.values()) == [5]


def test_what_was_begun_is_repeated_behind_the_newest_entry_of_a_log_that_leaves_micro_batches_out(write):
    state = read_checkpoint(write({3: [at(3)], 8: [at(5)]}, (3,)), OPTIONS)
    assert (state.batch, list(state.start.positions.values())) == (8, [3])


def test_the_source_is_known_by_its_topics(write):
    state = read_checkpoint(write({0: [at(9, "other"), at(3)]}, (0,)), OPTIONS)
    assert [partition.topic for partition in state.start.positions] == ["a"]


def test_another_connectors_checkpoint_is_refused(write):
    with pytest.raises(MillraceError, match="no query that reads with millrace"):
        read_checkpoint(write({0: [{"orders": {"0": 4}}]}, (0,)), OPTIONS)
