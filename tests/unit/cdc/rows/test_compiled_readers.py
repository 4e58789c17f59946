"""Readers that are compiled for the columns of a table, also for names that msgspec has no classes for."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pyarrow as pa
import pytest

from millrace_catalog.types import Column, Schema, parse_schema
from millrace_cdc.connectors.kafka.messages import message_key
from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.grouping import TablePlaces, group_changes
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.compiled_readers import object_reader, raw_reader, row_class, row_rewriter, value_reader
from support.table_changes import changes_at, changes_of_table

NAMES = ["a", "a.b", "über", 'say "x"', "back\\slash", "line\nbreak", ""]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_read_by_name_and_missing_ones_are_null(name):
    row = exact_json.encode({"other": 1, name: "x", "n": Decimal("1.50")})
    assert [bytes(value) for value in raw_reader([name, "n", "none"])(row)] == [b'"x"', b"1.50", b"null"]
    assert exact_json.decode(object_reader(["n", name])(row)) == {"n": Decimal("1.50"), name: "x"}
    rewritten = row_rewriter([name, "n", "none"], {name: str.upper, "none": str.upper})(row)
    assert exact_json.decode(rewritten) == {name: "X", "n": Decimal("1.50"), "none": None}


@pytest.mark.parametrize("name", NAMES)
def test_a_number_is_a_float_only_in_a_column_of_floats(name):
    columns = "d DECIMAL(38, 18), x DOUBLE, s STRING, l ARRAY<FLOAT>, m MAP<STRING, DOUBLE>, n ARRAY<DECIMAL(3, 2)>"
    schema = Schema((*parse_schema(columns), Column(name, parse_schema("v BIGINT").columns[0].type)))
    row = b'{"d":0.1,"x":0.1,"s":0.10,"l":[0.5,null],"m":{"k":1.5},"n":[0.10],%b:7}' % exact_json.encode(name)
    values = value_reader(schema)(row)
    assert list(values[:1] + values[2:]) == [
        Decimal("0.1"),
        Decimal("0.10"),
        [0.5, None],
        {"k": 1.5},
        [Decimal("0.10")],
        7,
    ]
    # A row with such a name is read as an object, whose floats the conversion makes
    assert float(values[1]) == 0.1


def test_a_number_beyond_all_floats_is_read_too():
    assert value_reader(parse_schema("x DOUBLE, y INT"))(b'{"x":1e400,"y":1}') == (Decimal("1E+400"), 1)


def test_names_without_a_class():
    assert row_class([('"', int, 0)]) is None
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.Decoder(row_class([("a", int, 0)], forbids_others=True)).decode(b'{"b":1}')


@pytest.mark.parametrize("name", NAMES)
def test_keys_of_all_sinks_may_have_the_name(name):
    rows = [exact_json.encode({name: value, "v": 1}) for value in ("a", "b", "a")]
    assert exact_json.decode(message_key("json", (name,))(rows[0])) == {name: "a"}
    assert message_key("csv", (name,))(rows[0]) == b"a"
    insertions = [("c", None, row) for row in rows]
    key = pa.schema([(name, pa.string())])
    assert final_changes(changes_at(*insertions), key).upserts.column("offset").to_pylist() == [1, 2]
    (groups,) = group_changes([changes_of_table("t", *insertions)], {"t": TablePlaces((0, 1), key)})
    assert sum(pa.ipc.open_stream(each.as_buffer()).read_all().num_rows for each in groups.column("changes")) == 3
