"""Transforms of pipelines, by Spark's own expressions."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.row_conversion import row_converter
from millrace_cdc.rows.spark_rows import row_struct
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.transforms.transform import Transform

COLUMNS = "id BIGINT, name STRING, at TIMESTAMP_LTZ(3)"
NAMES = [column.split()[0] for column in CHANGE_BATCH_COLUMNS.split(", ")]


def transform(spark, *rules_and_changes, columns=COLUMNS):
    """Transform changes of table shop.t between those of another; return operation, before and after of each."""
    rules = [each for each in rules_and_changes if isinstance(each, TransformRule)]
    changes = [each for each in rules_and_changes if not isinstance(each, TransformRule)]
    rows = [
        (
            table,
            operation,
            *(None if each is None else exact_json.encode(each) for each in images),
            "o",
            0,
            n,
            None,
            None,
        )
        for n, (table, operation, *images) in enumerate(changes)
    ]
    transforms = RowTransforms(spark)
    bound = [Transform.of(rule).bind(parse_schema(columns).names) for rule in rules]
    after = transforms.columns("shop.t", parse_schema(columns), bound[0])
    frame = spark.createDataFrame(rows, CHANGE_BATCH_COLUMNS)
    computed, finish = transforms.apply(frame, {"shop.t": SourceTableSchema(columns, ())}, {"shop.t": bound})
    result = computed.mapInArrow(lambda batches: (each.select(NAMES) for each in finish(batches)), CHANGE_BATCH_COLUMNS)
    found = sorted(result.collect(), key=lambda row: row.offset)
    images = [(each.before, each.after) for each in found]
    return str(after), [
        (row.operation, *(None if each is None else json.loads(each, parse_float=Decimal) for each in pair))
        for row, pair in zip(found, images, strict=True)
    ]


def test_columns_are_computed_and_typed_and_other_tables_stay_as_they_are(spark):
    rule = TransformRule(
        source_table="shop.t",
        projection="*, upper(name) AS up, id * 2 AS twice, __table_name__ AS origin, __data_event_type__ AS kind",
    )
    old, new = {"id": 1, "name": "a", "at": "2024-05-06 07:08:09Z"}, {"id": 1, "name": "b"}
    columns, changes = transform(spark, rule, ("shop.t", "u", old, new), ("x", "c", None, {"id": 5}))
    assert columns == "id BIGINT, name STRING, at TIMESTAMP_LTZ(3), up STRING, twice BIGINT, origin STRING, kind STRING"
    assert changes == [
        (
            "u",
            old | {"at": "2024-05-06 07:08:09Z", "up": "A", "twice": 2, "origin": "t", "kind": "-U"},
            {"id": 1, "name": "b", "at": None, "up": "B", "twice": 2, "origin": "t", "kind": "+U"},
        ),
        ("c", None, {"id": 5}),
    ]


def test_an_update_that_leaves_or_enters_a_filter_is_a_deletion_or_an_insertion(spark):
    rule = TransformRule(source_table="shop.t", projection="id, id + 1 AS next", filter="next > 10")
    small, large = {"id": 1}, {"id": 10}
    changes = [("shop.t", "u", small, large), ("shop.t", "u", large, small), ("shop.t", "u", large, large)]
    dropped = [("shop.t", "c", None, small), ("shop.t", "d", small, None), ("shop.t", "u", small, small)]
    kept = {"id": 10, "next": 11}
    assert transform(spark, rule, *changes, *dropped)[1] == [("c", None, kept), ("d", kept, None), ("u", kept, kept)]


def test_a_projection_gives_other_names_to_columns_that_differ_only_in_case(spark):
    rule = TransformRule(source_table="shop.t", projection="id, ID AS other, id + ID AS total")
    columns, changes = transform(spark, rule, ("shop.t", "c", None, {"id": 1, "ID": 2}), columns="id BIGINT, ID BIGINT")
    assert columns == "id BIGINT, other BIGINT, total BIGINT"
    assert changes == [("c", None, {"id": 1, "other": 2, "total": 3})]


def test_a_soft_deletion_inserts_the_old_row(spark):
    rule = TransformRule(
        source_table="shop.t", projection="id, __data_event_type__ AS op_type", converter="SOFT_DELETE"
    )
    assert transform(spark, rule, ("shop.t", "d", {"id": 3}, None))[1] == [("c", None, {"id": 3, "op_type": "-D"})]


def test_a_row_takes_the_first_transform_whose_filter_it_meets(spark):
    large = TransformRule(source_table="shop.t", projection="id, 'large' AS size", filter="id > 10")
    small = TransformRule(source_table="shop.t", projection="id, name", filter="id > 5")
    changes = [("shop.t", "c", None, {"id": n, "name": "a"}) for n in (1, 7, 11)]
    assert transform(spark, large, small, *changes)[1] == [
        ("c", None, {"id": 7, "name": "a"}),
        ("c", None, {"id": 11, "size": "large"}),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"filter": "id"}, "transform of table 'shop.t': .*BOOLEAN"),
        ({"projection": "id, id + at AS wrong"}, r"transform of table 'shop.t': .*DATATYPE_MISMATCH.*\."),
        # Spark's own parser refuses it
        ({"projection": "id, INTERVAL '1' FORTNIGHT AS wrong"}, "transform of table 'shop.t': .*INVALID_TYPED_LITERAL"),
    ],
)
def test_an_expression_is_checked_against_the_tables_columns(spark, given, message):
    with pytest.raises(PipelineError, match=message):
        transform(spark, TransformRule(source_table="shop.t", **given))


@pytest.mark.nightly
def test_typed_rows_and_computed_values_are_the_json_that_they_were_read_from(spark):
    columns = (
        "`a.b` BIGINT, d DATE, n DECIMAL(20, 6), t TIMESTAMP(6), z TIMESTAMP_LTZ(6), y BYTES, "
        'l ARRAY<DATE>, r ROW<x TIMESTAMP_LTZ(6), `it\'s` STRING>, m MAP<STRING, BYTES>, `say "x"` DOUBLE, o BOOLEAN'
    )
    row = {
        "a.b": 1,
        "d": "2024-02-29",
        "n": Decimal("12345678901234.5"),
        "t": "2024-05-06 07:08:09.123456",
        "z": "1969-12-31 23:59:58.5Z",
        "y": "aGVsbG8=",
        "l": ["2024-01-01", None],
        "r": {"x": "2024-05-06 07:08:09Z", "it's": "é"},
        "m": {"k": "AA=="},
        'say "x"': Decimal("1E+300"),
        "o": None,
    }
    schema = to_spark_schema(parse_schema(columns))
    frame = spark.createDataFrame([(exact_json.encode(row),), (None,)], "row BINARY")
    first, second = frame.select(row_struct(frame.row, schema).alias("typed")).collect()
    assert second.typed is None
    assert first.typed.d == date(2024, 2, 29)
    assert first.typed.t == datetime(2024, 5, 6, 7, 8, 9, 123456)
    assert first.typed.z.astimezone(UTC) == datetime(1969, 12, 31, 23, 59, 58, 500000, UTC)
    assert bytes(first.typed.y) == b"hello"
    # Each value as an expression that is no copy
    items = ", ".join(f"COALESCE(`{name}`, `{name}`) AS c{number}" for number, name in enumerate(row))
    computed = TransformRule(source_table="shop.t", projection=rf"\*, {items}")
    _, [(_, _, made)] = transform(spark, computed, ("shop.t", "c", None, row), columns=columns)
    assert made == row | {f"c{number}": value for number, value in enumerate(row.values())}
    assert list(made)[: len(row)] == list(row)


@pytest.mark.parametrize(
    "number",
    ["12345678901234567890.123456789012345678", "-0.000000000000000001", "99999999999999999999.999999999999999999"],
)
def test_numbers_keep_all_digits_in_filters_expressions_arrays_maps_and_rows(spark, number):
    decimal, number = "DECIMAL(38, 18)", Decimal(number)
    columns = f"q {decimal}, l ARRAY<{decimal}>, m MAP<STRING, {decimal}>, r ROW<a {decimal}>"
    row = {"q": number, "l": [number, None], "m": {"k": number}, "r": {"a": number}}
    items = ", ".join(f"COALESCE(`{name}`, `{name}`) AS c{at}" for at, name in enumerate(row))
    rule = TransformRule(source_table="shop.t", projection=rf"\*, {items}, l[1] AS f", filter=f"q = {number:f}")
    after, [(_, _, made)] = transform(spark, rule, ("shop.t", "c", None, row), columns=columns)
    assert made == row | {f"c{at}": value for at, value in enumerate(row.values())} | {"f": number}
    convert = row_converter(parse_schema(after))
    frame = spark.createDataFrame([(exact_json.encode(convert(made)),)], "row BINARY")
    (typed,) = frame.select(row_struct(frame.row, to_spark_schema(parse_schema(after))).alias("typed")).collect()
    found = typed.typed.asDict(recursive=True)
    assert {name: found[name] for name in row} == row
    assert [found["c0"], found["c1"], found["f"]] == [number, [number, None], number]
