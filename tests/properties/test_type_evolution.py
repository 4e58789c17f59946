"""A table's schema only grows, loses nothing and can be resumed at any message."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace_catalog.evolution import SchemaTracker, TableCreation, apply_change
from millrace_catalog.evolution.changes import AlterColumnTypes
from millrace_catalog.inference import JsonInferenceOptions, JsonReader, Observation
from millrace_catalog.types import Schema, least_common_type
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_formats.json import JsonFormat
from unit.catalog.any_json import OBJECTS

OPTIONS = st.builds(
    JsonInferenceOptions, nested=st.sampled_from(["string", "struct"]), primitive_as_string=st.booleans()
)
MESSAGES = st.lists(OBJECTS, max_size=8)


def observations(options: JsonInferenceOptions, messages: list[str]) -> list[Observation]:
    reader = JsonReader("t", options)
    return [said for text in messages if (said := reader.read(text.encode())) is not None]


def decoded(schema: Schema, text: str) -> dict[str, Any]:
    """A message as the json format reads it, without its NULLs."""
    rows = JsonFormat().decoder(to_arrow_schema(schema)).decode(Payloads([text.encode()]))
    assert not rows.errors, (schema, text, rows.errors)
    return {name: value for name, value in rows.rows.to_pylist()[0].items() if value is not None}


@given(OPTIONS, MESSAGES)
def test_a_schema_only_grows_and_is_the_sum_of_its_changes(options: JsonInferenceOptions, messages: list[str]) -> None:
    tracker = SchemaTracker("t")
    schema = Schema()
    for said in observations(options, messages):
        for change in tracker.observe(said):
            before, schema = schema, apply_change(schema, change)
            assert change.version == 1 or not isinstance(change, TableCreation)
            assert schema.names[: len(before)] == before.names
            assert all(column.type.nullable for column in schema)
            if isinstance(change, AlterColumnTypes):
                assert all(least_common_type(each.after, each.before) == each.after for each in change.columns)
                assert all(each.after != each.before for each in change.columns)
        assert schema == tracker.schema
        assert tracker.observe(said) == ()
    assert [change.version for change in tracker.changes()] == list(range(1, tracker.version + 1))


@given(OPTIONS, MESSAGES)
def test_no_value_is_lost_before_or_after_a_change(options: JsonInferenceOptions, messages: list[str]) -> None:
    tracker = SchemaTracker("t")
    told = []
    for text, said in zip(messages, observations(options, messages), strict=True):
        tracker.observe(said)
        told.append((text, tracker.schema))
    for text, schema in told:
        if not schema:
            continue
        then, now = decoded(schema, text), decoded(tracker.schema, text)
        there = {name for name, value in json.loads(text).items() if value is not None}
        assert then.keys() == now.keys() == there


@given(OPTIONS, MESSAGES, st.data())
def test_a_tracker_goes_on_from_anywhere(options: JsonInferenceOptions, messages: list[str], data: Any) -> None:
    uninterrupted, tracker = SchemaTracker("t"), SchemaTracker("t")
    for said in observations(options, messages):
        uninterrupted.observe(said)
        tracker.observe(said)
        if data.draw(st.booleans()):
            tracker = SchemaTracker.restore(tracker.state())
    assert tracker.changes() == uninterrupted.changes()
    assert tracker.state() == uninterrupted.state()
