"""Changes of a schema that follow from messages, and changes that are refused."""

from __future__ import annotations

import json

import pytest

from millrace.errors import SchemaError
from millrace_catalog.evolution import AddColumns, AlterColumnTypes, AlteredColumn, SchemaTracker, TableCreation
from millrace_catalog.evolution.changes import SchemaChange, apply_change
from millrace_catalog.inference import JsonInferenceOptions, JsonReader, Observation, Position
from millrace_catalog.types import BIGINT, DOUBLE, Schema, parse_schema

READER = JsonReader("orders", JsonInferenceOptions(nested="struct"))


def said(text: str) -> Observation:
    observation = READER.read(text.encode())
    assert observation is not None
    return observation


def tracker_of(schema: str, **options: object) -> SchemaTracker:
    tracker = SchemaTracker("orders", **options)
    tracker.create(parse_schema(schema))
    return tracker


def shown(changes: tuple[SchemaChange, ...]) -> list[str]:
    """Changes as statements."""
    texts = []
    for change in changes:
        if isinstance(change, AlterColumnTypes):
            texts += [f"{change.version} alter {each.name} {each.before} -> {each.after}" for each in change.columns]
        else:
            verb = "create" if isinstance(change, TableCreation) else "add"
            texts.append(f"{change.version} {verb} {Schema(change.columns)}")
    return texts


def test_the_first_message_creates_the_table() -> None:
    tracker = SchemaTracker("orders")
    assert (tracker.version, len(tracker.schema)) == (0, 0)
    (change,) = tracker.observe(said('{"id": 1, "o": {"a": null}, "n": null}'), Position(0, 7))
    columns = parse_schema("id BIGINT, o ROW<a STRING>, n STRING").columns
    assert change == TableCreation(1, "orders", columns, (), Position(0, 7))
    assert tracker.version == 1


def test_a_message_without_columns_creates_nothing() -> None:
    assert SchemaTracker("orders").observe(said("{}")) == ()


def test_new_columns_come_to_the_end_nullable_and_wider_types_after_them() -> None:
    tracker = tracker_of("id BIGINT, name STRING")
    changes = tracker.observe(said('{"z": true, "id": 1.5, "a": [1]}'), Position(1, 3))
    assert changes == (
        AddColumns(2, "orders", parse_schema("z BOOLEAN, a ARRAY<BIGINT>").columns, Position(1, 3)),
        AlterColumnTypes(3, "orders", (AlteredColumn("id", BIGINT, DOUBLE),), Position(1, 3)),
    )
    assert str(tracker.schema) == "id DOUBLE, name STRING, z BOOLEAN, a ARRAY<BIGINT>"


def test_what_a_message_lacks_stays_and_a_renamed_column_is_a_new_one() -> None:
    tracker = tracker_of("id BIGINT, name STRING")
    assert shown(tracker.observe(said('{"id": 1, "title": "x"}'))) == ["2 add title STRING"]
    assert str(tracker.schema) == "id BIGINT, name STRING, title STRING"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("id BIGINT", '{"id": 1}'),
        ("id BIGINT", '{"id": null}'),
        ("id BIGINT", '{"other": null}'),
        ("id BIGINT NOT NULL", '{"id": 1}'),
        ("id BIGINT NOT NULL", '{"other": null}'),
        ("id STRING", '{"id": {"a": null}}'),
        ("d DOUBLE", '{"d": 1}'),
        ("a ARRAY<DOUBLE>", '{"a": [1, null]}'),
        ("a ARRAY<BIGINT>", '{"a": []}'),
        ("o ROW<a BIGINT, b ROW<c STRING>>", '{"o": {"b": {"c": 1}, "x": null, "a": null}}'),
        ("o ROW<a BIGINT>", '{"o": {}}'),
    ],
)
def test_a_message_that_fits_changes_nothing(schema: str, text: str) -> None:
    tracker = tracker_of(schema)
    assert tracker.observe(said(text)) == tracker.observe(said(text)) == ()
    assert tracker.schema == parse_schema(schema)


@pytest.mark.parametrize(
    ("schema", "text", "changes"),
    [
        ("id INT", '{"id": 1}', ["2 alter id INT -> BIGINT"]),
        ("id DECIMAL(5, 2)", '{"id": 1}', ["2 alter id DECIMAL(5, 2) -> DECIMAL(21, 2)"]),
        ("id DATE", '{"id": "2020-12-30 10:00:00"}', ["2 alter id DATE -> STRING"]),
        ("t TIMESTAMP(3)", '{"t": "2020-12-30 10:00:00Z"}', ["2 alter t TIMESTAMP(3) -> TIMESTAMP_LTZ(6)"]),
        ("a ARRAY<BIGINT>", '{"a": [1.5]}', ["2 alter a ARRAY<BIGINT> -> ARRAY<DOUBLE>"]),
        ("a BIGINT", '{"a": []}', ["2 alter a BIGINT -> STRING"]),
        ("a ARRAY<BIGINT>", '{"a": [{"x": null}]}', ["2 alter a ARRAY<BIGINT> -> ARRAY<STRING>"]),
        (
            "o ROW<a BIGINT NOT NULL> NOT NULL",
            '{"o": {"b": {"c": 1}, "a": 2, "d": null}}',
            ["2 alter o ROW<a BIGINT NOT NULL> NOT NULL -> ROW<a BIGINT NOT NULL, b ROW<c BIGINT>> NOT NULL"],
        ),
        (
            "o ROW<a BIGINT>",
            '{"o": {"b": {"c": null}, "d": [], "e": {}}}',
            ["2 alter o ROW<a BIGINT> -> ROW<a BIGINT, b ROW<c STRING>, d ARRAY<STRING>, e STRING>"],
        ),
        ("id BIGINT", '{"b": {"c": null, "d": 1}}', ["2 add b ROW<d BIGINT>"]),
        ("id BIGINT", '{"b": [{"c": null, "d": 1}]}', ["2 add b ARRAY<ROW<d BIGINT>>"]),
        ("id BIGINT", '{"b": [], "c": {}, "d": [[null]]}', ["2 add b ARRAY<STRING>, c STRING, d ARRAY<ARRAY<STRING>>"]),
    ],
)
def test_a_message_that_does_not_fit_widens(schema: str, text: str, changes: list[str]) -> None:
    assert shown(tracker_of(schema).observe(said(text))) == changes


def test_the_values_of_a_map_widen_as_columns_do() -> None:
    tracker = tracker_of("m MAP<STRING, ROW<a INT>>")
    values = parse_schema("m MAP<STRING, ROW<a BIGINT, b NULL, c ROW<d INT NOT NULL>>>").types
    assert shown(tracker.observe(Observation("orders", values))) == [
        "2 alter m MAP<STRING, ROW<a INT>> -> MAP<STRING, ROW<a BIGINT, c ROW<d INT>>>"
    ]


@pytest.mark.parametrize(
    ("schema", "text", "problem"),
    [
        ("id BIGINT NOT NULL", '{"id": null}', "has NULL in column id, which is BIGINT NOT NULL"),
        (
            "o ROW<`a b` BIGINT NOT NULL>",
            '{"o": {"a b": null}}',
            "has NULL in column o, which is ROW<`a b` BIGINT NOT NULL>",
        ),
        ("o ROW<a BIGINT NOT NULL>", '{"o": {}}', "has NULL in column o, which is ROW<a BIGINT NOT NULL>"),
        ("`l l` ARRAY<INT NOT NULL>", '{"l l": [null]}', "has NULL in column `l l`, which is ARRAY<INT NOT NULL>"),
    ],
)
def test_null_for_what_is_not_null_is_refused(schema: str, text: str, problem: str) -> None:
    tracker = tracker_of(schema)
    with pytest.raises(SchemaError) as failure:
        tracker.observe(Observation("orders", {"new": BIGINT} | said(text).columns), Position(3, 4))
    assert str(failure.value) == f"table 'orders' at partition 3, offset 4 {problem}"
    assert tracker.schema == parse_schema(schema)
    assert tracker.version == 1


def test_another_primary_key_is_refused() -> None:
    tracker = SchemaTracker("orders")
    tracker.create(parse_schema("id BIGINT, x STRING"), ("id",))
    row = said('{"id": 1}').columns

    assert tracker.observe(Observation("orders", row, ("id",))) == ()
    assert tracker.observe(Observation("orders", row)) == ()
    with pytest.raises(SchemaError) as failure:
        tracker.observe(Observation("orders", row, ("id", "x")), Position(0, 1))
    assert str(failure.value) == (
        "table 'orders' at partition 0, offset 1 has another primary key: (id, x) instead of (id); primary keys "
        "cannot change"
    )
    with pytest.raises(SchemaError, match=r"another primary key: \(id\) instead of none"):
        tracker_of("id BIGINT").observe(Observation("orders", row, ("id",)))


def test_a_table_without_a_primary_key_can_get_one_once() -> None:
    tracker = tracker_of("id BIGINT, x STRING")
    with pytest.raises(SchemaError, match="has no column y, which its primary key names"):
        tracker.set_primary_key(("y",))
    tracker.set_primary_key(("id",))
    assert SchemaTracker.restore(tracker.state()).primary_key == ("id",)
    with pytest.raises(SchemaError, match=r"another primary key: \(x\) instead of \(id\)"):
        tracker.set_primary_key(("x",))


def test_a_copy_changes_by_itself_and_may_be_of_an_earlier_version() -> None:
    tracker = tracker_of("id BIGINT")
    tracker.observe(said('{"x": 1}'))
    copy = tracker.copy()
    copy.observe(said('{"y": 1}'))
    assert [len(each.schema) for each in (tracker, copy, tracker.copy(1), tracker.copy(0))] == [2, 3, 1, 0]


def test_what_cannot_be_created_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"^table 'orders' exists already$"):
        tracker_of("id BIGINT").create(parse_schema("id BIGINT"))
    with pytest.raises(SchemaError, match=r"^table 'orders' has no columns$"):
        SchemaTracker("orders").create(Schema())
    with pytest.raises(SchemaError, match=r"^table 'orders' has no column y, which its primary key names$"):
        SchemaTracker("orders").create(parse_schema("id BIGINT"), ("id", "y"))


def test_a_message_of_another_table_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"^table 'orders' got a message of table 'items'$"):
        tracker_of("id BIGINT").observe(Observation("items", {"id": BIGINT}))


def test_too_many_columns_are_refused() -> None:
    tracker = tracker_of("id BIGINT, o ROW<a BIGINT, b BIGINT>", max_columns=4)
    tracker.observe(said('{"x": 1}'))
    for text in ('{"y": 1}', '{"o": {"c": 1}}'):
        with pytest.raises(SchemaError) as failure:
            tracker.observe(said(text), Position(0, 1))
        assert str(failure.value) == (
            "table 'orders' at partition 0, offset 1 would have 5 columns, fields within columns included, more than "
            "option 'infer-schema.max-columns' allows (4)"
        )
    assert tracker.version == 2
    with pytest.raises(SchemaError, match="would have 3 columns"):
        SchemaTracker("orders", max_columns=2).observe(said('{"a": 1, "b": 1, "c": 1}'))


def test_a_static_schema_stays_as_it_was_created() -> None:
    tracker = SchemaTracker("orders", "static")
    assert shown(tracker.observe(said('{"id": 1}'))) == ["1 create id BIGINT"]
    assert tracker.observe(said('{"id": "x", "y": 1}')) == ()
    assert tracker.observe(Observation("orders", {}, ("id",))) == ()
    assert str(tracker.schema) == "id BIGINT"


def test_changes_are_told_again_to_one_who_has_not_applied_them() -> None:
    tracker = tracker_of("id BIGINT")
    for text in ('{"a": 1}', '{"id": 1.5, "b": 1}', '{"a": 1}'):
        tracker.observe(said(text))
    assert [change.version for change in tracker.changes()] == [1, 2, 3, 4]
    assert shown(tracker.changes(after=2)) == ["3 add b BIGINT", "4 alter id BIGINT -> DOUBLE"]
    assert tracker.changes(after=4) == ()

    schema = Schema()
    for change in tracker.changes():
        schema = apply_change(schema, change)
    assert schema == tracker.schema


def test_a_restored_tracker_goes_on_where_the_other_one_was() -> None:
    tracker = SchemaTracker("orders")
    tracker.create(parse_schema("id BIGINT NOT NULL, `a ``b` ROW<c INT>"), ("id",), Position(0, 1))
    tracker.observe(said('{"id": 1.5, "x": [1]}'), Position(2, 9))
    state = tracker.state()
    assert json.loads(state) == {
        "v": 1,
        "table": "orders",
        "changes": [
            {"create": "id BIGINT NOT NULL, `a ``b` ROW<c INT>", "key": ["id"], "at": [0, 1]},
            {"add": "x ARRAY<BIGINT>", "at": [2, 9]},
            {"alter": "id DOUBLE NOT NULL", "at": [2, 9]},
        ],
    }

    restored = SchemaTracker.restore(state)

    assert restored.table == "orders"
    assert restored.primary_key == ("id",)
    assert restored.changes() == tracker.changes()
    assert restored.schema == tracker.schema
    assert restored.observe(said('{"id": 1.5, "x": [1]}')) == ()
    assert shown(restored.observe(said('{"y": 1}'))) == ["4 add y BIGINT"]
    assert SchemaTracker.restore(SchemaTracker("new").state()).version == 0


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ("", "the state of a schema cannot be read: JSONDecodeError"),
        ("[]", "the state of a schema cannot be read: TypeError"),
        ('{"v":1,"table":"t"}', "the state of a schema cannot be read: KeyError: 'changes'"),
        ('{"v":1,"table":"t","changes":[{"create":"id BIGNT"}]}', "cannot be read: ValueError: expected a type"),
        ('{"v":1,"table":"t","changes":[{"alter":"id BIGINT"}]}', "cannot be read: KeyError: 'id'"),
        ('{"v":1,"table":"t","changes":[{"create":"a INT"},{"add":"a INT"}]}', "cannot be read: ValueError"),
        ('{"v":2,"table":"t","changes":[]}', "the state of a schema has version 2, and this millrace reads version 1"),
    ],
)
def test_a_state_that_cannot_be_read_is_refused(state: str, problem: str) -> None:
    with pytest.raises(SchemaError) as failure:
        SchemaTracker.restore(state)
    assert problem in str(failure.value)
