"""The schema guard agrees with the schema's own rules, for any messages and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import SampledMessage
from millrace.errors import SchemaError, SchemaMismatchError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.evolution.evolving_json.fit_prefilter import FitPrefilter
from millrace_catalog.evolution.evolving_json.schema_guard import SchemaGuard
from millrace_catalog.evolution.evolving_table import EvolvingTable, TableLayout
from millrace_catalog.inference import JsonInferenceOptions, JsonReader
from millrace_catalog.types import parse_schema
from unit.catalog.any_json import OBJECTS

OPTIONS = st.builds(
    JsonInferenceOptions,
    timestamp_format=st.sampled_from(["SQL", "ISO-8601"]),
    nested=st.sampled_from(["string", "struct", "flatten"]),
    primitive_as_string=st.booleans(),
    fixed_types=st.sampled_from([(), tuple(parse_schema("a DECIMAL(5, 2), c ROW<a STRING>"))]),
)
MESSAGES = st.lists(OBJECTS.map(str.encode), max_size=6)


def tracked(options: JsonInferenceOptions, messages: list[bytes]) -> SchemaTracker:
    tracker = SchemaTracker("t")
    for text in messages:
        said = JsonReader("t", options).read(text)
        if said is not None:
            tracker.observe(said)
    return tracker


@given(OPTIONS, MESSAGES, MESSAGES)
def test_what_does_not_fit_is_what_a_tracker_changes_its_columns_for(
    options: JsonInferenceOptions, before: list[bytes], after: list[bytes]
) -> None:
    tracker = tracked(options, before)
    if not tracker.schema:
        return
    changes = [bool(SchemaTracker.restore(tracker.state()).observe(_said(options, text))) for text in after]
    assert not any(changes[place] for place in _surely_fitting(tracker, options, after))
    assert _first_unfit(SchemaGuard(tracker.schema, options), after) == (changes.index(True) if any(changes) else None)
    SchemaGuard(tracker.schema, options).check(before)


def _first_unfit(watch: SchemaGuard, messages: list[bytes]) -> int | None:
    try:
        watch.check(messages)
    except SchemaMismatchError as error:
        return error.index
    return None


def _said(options: JsonInferenceOptions, text: bytes) -> Any:
    said = JsonReader("t", options).read(text)
    assert said is not None
    return said


def _surely_fitting(tracker: SchemaTracker, options: JsonInferenceOptions, messages: list[bytes]) -> set[int]:
    fast = FitPrefilter(tracker.schema.types, options)
    return {place for place, text in enumerate(messages) if not fast.uncertain([text])}


@given(
    OPTIONS,
    st.lists(st.tuples(st.integers(0, 2), st.none() | OBJECTS.map(str.encode) | st.just(b"x"), OBJECTS), max_size=12),
    st.data(),
)
def test_what_executors_leave_out_makes_no_difference(
    options: JsonInferenceOptions, found: list[tuple[int, bytes | None, str]], data: Any
) -> None:
    layout = TableLayout("t", replace(options, fixed_types=()), "k_", "v_", "col", (), False, 8)
    table = EvolvingTable.create(layout, parse_schema("v_id BIGINT"), (), (), key_is_json=True)
    messages = sorted(
        (
            SampledMessage(partition, offset, key, value.encode())
            for offset, (partition, key, value) in enumerate(found)
        ),
        key=lambda each: (each.partition, each.offset),
    )
    # Tasks get ranges of partitions
    cuts = sorted(data.draw(st.sets(st.integers(0, len(messages)), max_size=3)))
    kept = []
    for low, high in zip([0, *cuts], [*cuts, len(messages)], strict=True):
        tables: dict[int, EvolvingTable] = {}
        for message in messages[low:high]:
            mine = tables.setdefault(message.partition, table.copy())
            kept += [message] if mine.is_relevant(message) else []
    assert _outcome(table.copy(), kept) == _outcome(table.copy(), messages)


def _outcome(table: EvolvingTable, messages: list[SampledMessage]) -> Any:
    try:
        table.observe_all(messages)
    except SchemaError as error:
        return str(error)
    return table.state()
