from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Decoded, MalformedMessage
from millrace.errors import PluginError
from millrace.source.reader.decode import check_decoded, in_time_zone

SCHEMA = pa.schema([("id", pa.int64())])


def rows(*ids: int, kind: pa.DataType | None = None) -> pa.RecordBatch:
    return pa.record_batch({"id": pa.array(ids, kind or pa.int64())})


def test_what_keeps_the_contract_passes() -> None:
    decoded = Decoded(rows(1, 2))
    assert check_decoded(decoded, SCHEMA, 2, "acme", None) is decoded


def test_columns_of_another_type_are_cast() -> None:
    assert check_decoded(Decoded(rows(1, kind=pa.int32())), SCHEMA, 1, "acme", None).rows == rows(1)


def test_columns_that_cannot_be_cast_name_the_format() -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' gave other columns than it was asked for: "):
        check_decoded(Decoded(pa.record_batch({"name": ["x"]})), SCHEMA, 1, "acme", None)


def test_rows_of_unknown_messages_are_refused() -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' gave 1 rows for 2 messages$"):
        check_decoded(Decoded(rows(1)), SCHEMA, 2, "acme", None)


def test_row_kinds_of_a_format_of_rows_are_refused_and_not_dropped() -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' returned row kinds but is not a ChangelogFormat$"):
        check_decoded(Decoded(rows(1), row_kinds=pa.array(["-D"])), SCHEMA, 1, "acme", None)


def test_changes_that_keep_the_contract_pass() -> None:
    told = pa.record_batch({"table": ["t", "t"]})
    decoded = Decoded(rows(1, 2), pa.array([0, 0], pa.int32()), pa.array(["-U", "+U"]), metadata=told)
    assert check_decoded(decoded, SCHEMA, 1, "acme", ["table"]) is decoded


@pytest.mark.parametrize(
    ("kinds", "told"), [(pa.array(["+I"]), "1 row kinds (string)"), (pa.array([0, 0]), "2 row kinds (int64)")]
)
def test_row_kinds_that_are_none_are_refused(kinds: pa.Array, told: str) -> None:
    with pytest.raises(PluginError) as error:
        check_decoded(Decoded(rows(1, 2), row_kinds=kinds), SCHEMA, 2, "acme", [])
    assert str(error.value) == f"format 'acme' gave {told} for 2 rows"


@pytest.mark.parametrize("told", [None, pa.record_batch({"a": [1]}), pa.record_batch({"a": [1, 2], "b": [1, 2]})])
def test_metadata_that_was_not_asked_for_so_is_refused(told: pa.RecordBatch | None) -> None:
    with pytest.raises(PluginError, match=r"^format 'acme' did not give table for each of 2 rows$"):
        check_decoded(Decoded(rows(1, 2), metadata=told), SCHEMA, 2, "acme", ["table"])


@pytest.mark.parametrize("index", [-1, 2])
def test_errors_of_unknown_messages_are_refused(index: int) -> None:
    decoded = Decoded(rows(1), pa.array([0], pa.int32()), errors=(MalformedMessage(index, "bad"),))
    with pytest.raises(PluginError, match=r"^format 'acme' reported errors of messages that it was not given$"):
        check_decoded(decoded, SCHEMA, 2, "acme", None)


@pytest.mark.parametrize("message_index", [None, pa.array([0, 1], pa.int32())])
def test_rows_of_malformed_messages_are_refused(message_index: pa.Int32Array | None) -> None:
    decoded = Decoded(rows(1, 2), message_index, errors=(MalformedMessage(1, "bad"),))
    with pytest.raises(PluginError, match=r"^format 'acme' gave rows for messages that it calls malformed$"):
        check_decoded(decoded, SCHEMA, 2, "acme", None)


def test_malformed_messages_between_others_pass() -> None:
    decoded = Decoded(rows(1, 3), pa.array([0, 2], pa.int32()), errors=(MalformedMessage(1, "bad"),))
    assert check_decoded(decoded, SCHEMA, 3, "acme", None) is decoded


def columns(zone: str) -> pa.Schema:
    instant = pa.timestamp("us", zone)
    return pa.schema(
        [
            pa.field("a", instant, nullable=False),
            pa.field("b", pa.struct([pa.field("c", pa.list_(pa.field("element", instant, nullable=False)))])),
            pa.field("d", pa.map_(instant, pa.field("value", pa.list_(instant), nullable=False))),
            pa.field("e", pa.timestamp("us")),
            pa.field("f", pa.string(), nullable=False),
        ]
    )


def test_instants_are_in_the_zone_however_deep_and_all_else_stays() -> None:
    assert in_time_zone(columns("UTC"), "Europe/Berlin") == columns("Europe/Berlin")
    assert in_time_zone(columns("UTC"), "UTC") == columns("UTC")


def test_instants_of_a_zone_are_those_of_another() -> None:
    value = {"a": 0, "b": {"c": [1]}, "d": [(2, [3])], "e": 4, "f": "x"}
    rows = pa.RecordBatch.from_pylist([value], schema=columns("Europe/Berlin"))
    assert rows.cast(columns("UTC")) == pa.RecordBatch.from_pylist([value], schema=columns("UTC"))
