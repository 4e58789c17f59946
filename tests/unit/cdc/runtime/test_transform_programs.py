"""Programs that tables share, and rows that are made of what these compute."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_catalog.types import parse_schema
from millrace_cdc.definitions.functions import FunctionDefinition
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.functions.user_function import UserFunction, by_name
from millrace_cdc.rows.change_records import CHANGE_SCHEMA
from millrace_cdc.runtime.image_values import ImageReader, TableImages, TransformedChanges
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.transform_programs import named_sql, table_program
from millrace_cdc.transforms.transform import Transform

ORDERS = 'id BIGINT, name STRING, `say "x"` STRING'
SCHEMA = pa.schema(list(CHANGE_SCHEMA)[:-1])


def bound(columns, **rule):
    return Transform.of(TransformRule(source_table="shop.t", **rule)).bind(parse_schema(columns).names)


def program(columns, **rule):
    return table_program(parse_schema(columns), [bound(columns, **rule)])


def test_tables_that_compute_the_same_of_other_columns_have_one_program():
    first = program("id BIGINT, price DOUBLE, note STRING", projection=r"\*, price * 2 AS twice", filter="twice > id")
    assert first.reads == ("price", "id")
    assert named_sql(first.program.rules[0].condition) == "(v0 * 2) > v1"
    assert [named_sql(each) for each in first.program.rules[0].results] == ["v0 * 2"]
    other = program("key BIGINT, cost DOUBLE NOT NULL", projection=r"\*, cost * 2 AS more", filter="more > key")
    assert (other.program, other.reads) == (first.program, ("cost", "key"))
    assert other.rules[0].columns == (("key", "key"), ("cost", "cost"), ("more", None))


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ("id BIGINT, price DECIMAL(10, 2)", {"projection": "id, price * 2 AS twice"}),
        ("id BIGINT, price DOUBLE", {"projection": "id, price * 3 AS twice"}),
        ("id BIGINT, price DOUBLE", {"projection": "id, price * 2 AS twice", "filter": "id > 1"}),
    ],
)
def test_other_types_and_other_rules_are_other_programs(columns, rule):
    same = program("id BIGINT, price DOUBLE", projection="id, price * 2 AS twice")
    assert program(columns, **rule).program != same.program


def changes(*rows):
    given = [
        (
            "shop.t",
            operation,
            *(None if each is None else json.dumps(each).encode() for each in images),
            "o",
            0,
            7,
            None,
            kept,
        )
        for operation, *images, kept in ((*row, None)[:4] for row in rows)
    ]
    return pa.RecordBatch.from_pydict(dict(zip(SCHEMA.names, zip(*given, strict=True), strict=True)), SCHEMA)


def images_of(**rule):
    found = program(ORDERS, **rule)
    return TableImages(SourceTableSchema(ORDERS, ()), 4, found.reads, frozenset(), found.rules)


def test_a_program_gets_the_values_that_it_reads_as_texts_converted_to_their_columns():
    computed = '`say "x"` || __table_name__ AS said, __data_event_type__ AS kind'
    table = images_of(projection=rf"\*, id + 1 AS next, {computed}")
    update = ("u", {"id": "5", 'say "x"': "é\n"}, {"id": 6, "name": 1})
    (read,) = ImageReader({"shop.t": table}, frozenset()).read([changes(update, ("d", {"id": 1}, None))])
    assert table.reads == ("id", 'say "x"', "__table_name__", "__data_event_type__")
    assert read.column("program").to_pylist() == [4, 4]
    assert read.column("images").to_pylist() == [
        [["5", "é\n", "t", "-U"], ["6", None, "t", "+U"]],
        [["1", None, "t", "-D"], None],
    ]
    assert json.loads(read.column("after")[0].as_py()) == {"id": 6, "name": "1", 'say "x"': None}


def made(table, *rows_and_results):
    batch = changes(*(row for row, _ in rows_and_results))
    results = [
        None if each is None else [json.dumps(one) if one else None for one in each] for _, each in rows_and_results
    ]
    batch = batch.append_column("results", pa.array(results, pa.list_(pa.string())))
    (found,) = TransformedChanges({"shop.t": table}).make([batch])
    images = zip(*(found.column(name).to_pylist() for name in ("before", "after")), strict=True)
    rows = [tuple(None if each is None else json.loads(each) for each in pair) for pair in images]
    return [(operation, *row) for operation, row in zip(found.column("operation").to_pylist(), rows, strict=True)]


def test_rows_have_copies_and_results_in_the_order_of_the_projection():
    table = images_of(projection='UPPER(name) AS name, id, `say "x"`, id + 1 AS next')
    old, new = {"id": 1, "name": "a", 'say "x"': "1.50"}, {"id": 2, "name": "b", 'say "x"': None}
    results = [{"rule": 0, "v0": "A", "v1": 2}, {"rule": 0, "v0": "B", "v1": 3}]
    ((operation, before, after),) = made(table, (("u", old, new), results))
    assert operation == "u"
    assert list(before.items()) == [("name", "A"), ("id", 1), ('say "x"', "1.50"), ("next", 2)]
    assert after == {"name": "B", "id": 2, 'say "x"': None, "next": 3}


def test_what_filters_leave_of_a_change_decides_its_operation():
    table, row = images_of(projection="id", filter="id > 1"), {"id": 5}
    met = {"rule": 0}
    update, insertion = ("u", row, row), ("c", None, row)
    given = [(update, [met, met]), (update, [None, met]), (update, [met, None]), (update, [None, None])]
    found = made(table, *given, (insertion, [None, None]), (insertion, [None, met]))
    assert found == [("u", row, row), ("c", None, row), ("d", row, None), ("c", None, row)]


def test_an_update_without_its_old_row_whose_new_one_meets_no_filter_deletes_the_row_of_its_key():
    table = images_of(projection="id, UPPER(name) AS name", filter="id > 1")
    update = ("u", None, {"id": 5, "name": "a"})
    found = made(table, (update, [None, {"rule": 0, "v0": "A"}]), (update, [None, None]))
    assert found == [("u", None, {"id": 5, "name": "A"}), ("d", {"id": 5, "name": None}, None)]


def test_columns_that_are_made_of_kept_ones_are_kept_and_filters_refuse_them():
    row, result = {"id": 5, "name": None}, [None, {"rule": 0, "v0": None}]
    rule = {"projection": 'id, UPPER(name) AS upper, name AS other, `say "x"`'}
    batch = changes(("u", None, row, ["name"])).append_column(
        "results", pa.array([[each and json.dumps(each) for each in result]], pa.list_(pa.string()))
    )
    (found,) = TransformedChanges({"shop.t": images_of(**rule)}).make([batch])
    assert found.column("kept").to_pylist() == [["upper", "other"]]
    with pytest.raises(MessageError, match=r"offset 7: the database did not send column 'name'.*with a filter"):
        next(TransformedChanges({"shop.t": images_of(**rule, filter="id > 1")}).make([batch]))


def test_a_soft_deletion_is_an_insertion():
    table = images_of(projection="id", converter="SOFT_DELETE")
    assert made(table, (("d", {"id": 5}, None), [{"rule": 0}, None])) == [("c", None, {"id": 5})]


def test_changes_of_other_tables_stay():
    (found,) = TransformedChanges({}).make(
        [changes(("c", None, {"id": 5})).append_column("results", pa.nulls(1, pa.list_(pa.string())))]
    )
    assert found.equals(changes(("c", None, {"id": 5})))


FUNCTIONS = by_name(
    UserFunction.of(FunctionDefinition(name=name, code="def eval(n: int) -> int: return n")) for name in ("f", "g")
)


def calls_of(*rules):
    columns = parse_schema("id BIGINT, price BIGINT")
    transforms = []
    for rule in rules:
        parsed = Transform.of(
            TransformRule(source_table="shop.t", **rule), FUNCTIONS, sum(len(each.calls) for each in transforms)
        )
        transforms.append(parsed.bind(columns.names, types=columns.types))
    return table_program(columns, transforms)


def test_results_of_calls_are_values_behind_those_that_are_read():
    found = calls_of({"projection": "id, f(price) + g(f(id)) AS sum"})
    assert found.reads == ("price", "id")
    assert [str(type_) for type_ in found.program.types] == ["BIGINT"] * 5
    calls = [(each.function.name, named_sql(*each.arguments), each.level) for each in found.program.calls]
    assert calls == [("f", "v0", 0), ("f", "v1", 0), ("g", "v3", 1)]
    assert [named_sql(each) for each in found.program.rules[0].results] == ["v2 + v4"]
    assert found.places == tuple(f"transform of shop.t: {text}" for text in ("f(price)", "f(id)", "g(f(id))"))


def test_calls_of_a_projection_come_behind_those_of_the_filter_for_the_rows_that_meet_it():
    found = calls_of({"projection": "id, f(price) AS share", "filter": "g(id) > 0"})
    (first, second) = found.program.calls
    assert (first.function.name, first.condition, first.level) == ("g", None, 0)
    assert (second.function.name, named_sql(second.condition), second.level) == ("f", "v2 > 0", 1)


def test_a_filter_of_a_computed_column_needs_its_calls_for_all_rows():
    found = calls_of({"projection": "id, f(price) AS share", "filter": "g(share + 1) > 0"})
    calls = [
        (each.function.name, named_sql(*each.arguments), each.condition, each.level) for each in found.program.calls
    ]
    assert calls == [("f", "v0", None, 0), ("g", "(v1) + 1", None, 1)]


def test_rules_of_a_table_have_calls_of_their_own():
    found = calls_of({"projection": "f(id) AS a", "filter": "id > 5"}, {"projection": "f(price) AS a"})
    calls = [(named_sql(*each.arguments), each.condition and named_sql(each.condition)) for each in found.program.calls]
    assert calls == [("v0", "v0 > 5"), ("v1", None)]
    assert [named_sql(rule.results[0]) for rule in found.program.rules] == ["v2", "v3"]
