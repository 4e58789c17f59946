"""Changes of a table with a primary key equal those of a dictionary, whatever happens to tasks, hosts and the topic."""

from __future__ import annotations

import json
import shutil
import tempfile
from itertools import islice
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from support.tables import Stream, Topic, latest_rows, row, short

MESSAGES = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.none(), st.sampled_from("abc"))).map(lambda each: row(*each)),
    min_size=1,
    max_size=8,
)
EVENTS = st.sampled_from(
    ["compaction", "lost attempt", "repeated", "lost store", "lost stores", "unread", "restart", "older checkpoint"]
)
STEPS = st.lists(st.tuples(MESSAGES, st.sampled_from("ab"), st.lists(EVENTS, max_size=3)), min_size=1, max_size=8)


class Model:
    """The table as a dictionary, and how it was at each offset."""

    def __init__(self) -> None:
        self.at: dict[int, dict[int, str]] = {0: {}}

    def changes(self, topic: Topic, start: int, end: int) -> list[str]:
        table, found = dict(self.at[start]), []
        for offset in sorted(each for each in topic.messages if start <= each < end):
            key, value = topic.messages[offset]
            number, name = json.loads(key)["id"], None if value is None else json.loads(value)["name"]
            old = table.get(number)
            if old == name:
                continue
            if old is not None:
                found.append(f"{'-D' if name is None else '-U'} {number} {old}")
            if name is None:
                del table[number]
            else:
                found.append(f"{'+I' if old is None else '+U'} {number} {name}")
                table[number] = name
        self.at[end] = table
        return found


def play(stream: Stream, model: Model, host: str, events: list[str]) -> None:
    """Read what is new, in the midst of some events."""
    topic = stream.topic
    if "older checkpoint" in events and len(stream.offsets) > 2:
        stream.offsets = stream.offsets[:-2]
        stream.restart()
    if "restart" in events:
        stream.restart()
    if "lost attempt" in events:
        list(islice(stream.attempt(stream.offsets[-1], topic.end, host), 1))
    lose_stores(stream, host, events)
    if "unread" in events:
        leave_unread(stream, model)
    start, end = stream.offsets[-1], topic.end
    expected = model.changes(topic, start, end)
    assert short(stream.run(end, host)) == expected
    if "compaction" in events:
        topic.compact()
    if "repeated" in events:
        # Another attempt, on another host, of what was read: compaction has not changed it
        again = [each for batch in stream.attempt(start, end, "ab".replace(host, "")) for each in batch.to_pylist()]
        assert short(again) == expected


def lose_stores(stream: Stream, host: str, events: list[str]) -> None:
    for event, hosts in {"lost store": host, "lost stores": "ab"}.items():
        for each in hosts if event in events else ():
            shutil.rmtree(stream.folder / each, ignore_errors=True)


def leave_unread(stream: Stream, model: Model) -> None:
    """Let a micro-batch be planned that nobody reads, so that its messages are read when the next one needs them."""
    start, end = stream.offsets[-1], stream.topic.end
    stream.plan(start, end)
    stream.offsets.append(end)
    model.changes(stream.topic, start, end)
    stream.topic.append(row(9, "x"))


@settings(max_examples=80, deadline=None)
@given(STEPS, st.booleans())
def test_changes_are_those_of_a_dictionary(steps: list, has_small_batches: bool) -> None:
    topic, model = Topic(), Model()
    topic.batch_size = 2 if has_small_batches else 100
    with tempfile.TemporaryDirectory() as folder:
        stream = Stream(topic, Path(folder))
        for messages, host, events in steps:
            topic.append(*messages)
            play(stream, model, host, events)


@settings(max_examples=100, deadline=None)
@given(st.lists(MESSAGES, min_size=1, max_size=4))
def test_a_batch_has_the_last_row_of_each_key(batches: list) -> None:
    topic, model = Topic(*[each for batch in batches for each in batch]), Model()
    model.changes(topic, 0, topic.end)
    found = latest_rows(topic)
    assert {each["id"]: each["name"] for each in found} == model.at[topic.end]
    assert len(found) == len(model.at[topic.end])
    assert {each["row_kind"] for each in found} <= {"+I"}
