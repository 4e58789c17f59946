"""Projections and conditions of transforms as Spark SQL; the columns that they make; mistakes and their places.

The cases are those of Flink CDC's page on transforms.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.parsing import parse_projection
from millrace_catalog.types import BIGINT, parse_schema
from millrace_cdc import PipelineError, read_pipeline
from millrace_cdc.definitions.functions import FunctionDefinition
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import DocumentPosition
from millrace_cdc.functions.user_function import UserFunction, by_name
from millrace_cdc.table_id import TableId
from millrace_cdc.transforms.differences import dropped_rows
from millrace_cdc.transforms.transform import Transform, Transforms, rule_problems

COLUMNS = ("id", "order_id", "product_name", "province")
ORDERS = ("id", "name", "ts")


def bind(projection=None, condition=None, columns=COLUMNS, **rule):
    transform = Transform.of(
        TransformRule(source_table="mydb.web_order", projection=projection, filter=condition, **rule)
    )
    return transform.bind(columns, ("id",))


def sql_of(expression: str, columns=ORDERS) -> str:
    (column,) = bind(f"{expression} AS x", columns=columns).columns
    return column.expression


@pytest.mark.parametrize(
    ("projection", "columns"),
    [
        (None, {name: f"`{name}`" for name in COLUMNS}),
        (r"\*", {name: f"`{name}`" for name in COLUMNS}),
        (
            "id, order_id, UPPER(product_name) as product_name, localtimestamp as new_timestamp",
            {
                "id": "`id`",
                "order_id": "`order_id`",
                "product_name": "upper(`product_name`)",
                "new_timestamp": "localtimestamp()",
            },
        ),
        (
            "id, __namespace_name__ || '.' || __schema_name__ || '.' || __table_name__ identifier_name",
            {
                "id": "`id`",
                "identifier_name": "`__namespace_name__` || '.' || `__schema_name__` || '.' || `__table_name__`",
            },
        ),
        (
            r"\*, UPPER(product_name) as product_name",
            {
                "id": "`id`",
                "order_id": "`order_id`",
                "product_name": "upper(`product_name`)",
                "province": "`province`",
            },
        ),
        (
            "UPPER(product_name) as product_name, *",
            {
                "product_name": "upper(`product_name`)",
                "id": "`id`",
                "order_id": "`order_id`",
                "province": "`province`",
            },
        ),
        ("order_id as id, id as order_id", {"id": "`order_id`", "order_id": "`id`"}),
        (
            r"\*, __data_event_type__ AS op_type",
            {**{name: f"`{name}`" for name in COLUMNS}, "op_type": "`__data_event_type__`"},
        ),
        ("__table_name__", {"__table_name__": "`__table_name__`"}),
    ],
)
def test_columns_in_their_order(projection, columns):
    assert [(each.name, each.expression) for each in bind(projection).columns] == list(columns.items())


def test_copies_are_known_as_such():
    bound = bind("id, order_id AS number, UPPER(province) AS province")
    assert [each.copied_from for each in bound.columns] == ["id", "order_id", None]


@pytest.mark.parametrize(
    ("projection", "condition", "sql"),
    [
        (None, "id > 10 AND order_id > 100", "`id` > 10 AND `order_id` > 100"),
        ("id, UPPER(province) as new_province", "new_province = 'SHANGHAI'", "(upper(`province`)) = 'SHANGHAI'"),
        ("id, order_id", "UPPER(province) = 'SHANGHAI'", "upper(`province`) = 'SHANGHAI'"),
        (r"\*, UPPER(province) AS province", "province = 'x'", "`province` = 'x'"),
        (None, "__data_event_type__ = '+I'", "`__data_event_type__` = '+I'"),
        (None, "id IS NOT NULL OR NOT (id <> 1)", "NOT `id` IS NULL OR NOT (`id` <> 1)"),
    ],
)
def test_conditions_read_the_tables_columns_and_then_computed_ones(projection, condition, sql):
    assert bind(projection, condition).condition == sql


def test_keys_and_options():
    bound = bind("order_id, UPPER(product_name) as product_name", primary_keys=("order_id", "product_name"))
    assert bound.primary_key == ("order_id", "product_name")
    assert bind("id, order_id").primary_key == ("id",)
    assert bind("order_id").primary_key == ()
    bound = bind(None, partition_keys=("province",), table_options=(("comment", "web order"),), converter="SOFT_DELETE")
    assert (bound.partition_keys, bound.table_options, bound.soft_delete) == (
        ("province",),
        (("comment", "web order"),),
        True,
    )


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        ("SUBSTRING(name FROM 2 FOR 3)", "substring(`name`, 2, 3)"),
        ("SUBSTRING(name FROM 2)", "substring(`name`, 2)"),
        ("TRIM(name)", "TRIM(`name`)"),
        ("TRIM(BOTH 'x' FROM name)", "TRIM(BOTH 'x' FROM `name`)"),
        ("CAST(id AS DECIMAL(10, 2))", "CAST(`id` AS DECIMAL(10, 2))"),
        ("CAST(ts AS TIMESTAMP(3))", "CAST(`ts` AS TIMESTAMP_NTZ)"),
        ("CAST(ts AS TIMESTAMP_LTZ(3))", "CAST(`ts` AS TIMESTAMP)"),
        ("cast(UPPER(name) as varchar(10))", "CAST(upper(`name`) AS STRING)"),
        ("CAST(id AS LONG)", "CAST(`id` AS BIGINT)"),
        ("TIMESTAMPADD(day, 1, ts)", "timestampadd(DAY, 1, `ts`)"),
        ("TIMESTAMPDIFF(SECOND, ts, NOW())", "timestampdiff(SECOND, `ts`, current_timestamp())"),
        ("DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')", "date_format(`ts`, 'yyyy-MM-dd HH:mm:ss.SSS')"),
        ("TO_TIMESTAMP_LTZ(id, 3)", "timestamp_millis(`id`)"),
        ("TO_TIMESTAMP_LTZ(name, 'yyyy')", "to_timestamp_ltz(`name`, 'yyyy')"),
        ("'it''s a \\d'", "'it\\'s a \\\\d'"),
        ("CASE name WHEN 'a' THEN 1 ELSE 2 END", "CASE `name` WHEN 'a' THEN 1 ELSE 2 END"),
        ("CASE WHEN id > 1 THEN 'x' END", "CASE WHEN `id` > 1 THEN 'x' END"),
        ("name[1]", "try_element_at(`name`, 1)"),
        ("IF(id > 1, UPPER(name), 'y')", "if(`id` > 1, upper(`name`), 'y')"),
        ("-id % 2 + 1.5e3", "-`id` % 2 + 1.5e3"),
        ("`id` + 1", "`id` + 1"),
        ("CURRENT_DATE", "current_date()"),
        ("UNIX_TIMESTAMP()", "unix_timestamp()"),
    ],
)
def test_expressions_as_spark_has_them(expression, sql):
    assert sql_of(expression) == sql


def test_names_are_quoted():
    assert bind("`a ``b`", columns=("a `b",)).columns[0].expression == "`a ``b`"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_checks_the_number_of_its_arguments(name):
    function = FUNCTIONS[name]
    too_many = ", ".join(["DAY" if function.takes_unit else "1"] + ["1"] * function.most)
    if function.most < 1000:
        with pytest.raises(PipelineError, match=f"function {name} takes "):
            bind(f"{name}({too_many}) AS x")
    if function.fewest:
        with pytest.raises(PipelineError, match=f"function {name} takes "):
            bind(f"{name}() AS x")


@pytest.mark.parametrize(
    ("projection", "offset", "sentence"),
    [
        ("id, UPER(name) x", 4, "unknown function 'UPER'; did you mean UPPER?"),
        ("id, count(*) x", 4, "unknown function 'count'"),
        ("id, GET_EMBEDDING(name) x", 4, "function GET_EMBEDDING is not supported: models are not supported"),
        ("id, UPPER(name, id) x", 4, "function UPPER takes 1 argument, not 2"),
        ("id, name SIMILAR TO id x", 4, "SIMILAR TO takes a pattern that is a text"),
        ("id, MAP['a'] x", 4, "function MAP takes 2 or more arguments, not 1"),
        ("id, MAP['a', 1, 'b'] x", 4, "MAP takes pairs of keys and values, not 3 values"),
        ("id, ARRAY[1, 2 x", 9, "the bracket is not closed"),
        ("id, name] x", 8, "the bracket was not opened"),
        ("id, EXTRACT(EPOCH FROM ts) x", 4, "EXTRACT takes YEAR, QUARTER"),
        ("id, TIMESTAMPADD(WEEK, 1, ts) x", 17, "expected a unit of time out of SECOND, MINUTE"),
        ("id, 1 + id", 4, "expected a name for the expression: write AS and a name"),
        ("id, (SELECT 1) x", 12, "a query is not supported in a transform"),
        ("id, id + * x", 9, "'*' stands for all columns only by itself"),
        ("id +, name", 4, "expected an expression of SQL; here it goes wrong"),
        ("id, name FROM t", 0, "expected an expression of SQL, found FROM"),
        ("DISTINCT id", 0, "expected an expression of SQL, found DISTINCT"),
        ("id, CAST(name AS STRNG) x", 17, "type of CAST: expected a type at character 1, found 'STRNG'; did you mean"),
        ("id, CAST(name) x", 8, "expected CAST(value AS type)"),
        ("id, CAST(name AS) x", 14, "expected a type after AS"),
        ("id, t.name", 4, "expected a column, found 't.name': the name has no table before it"),
        ('id, "name" x', 4, "a text stands between '...', and a name between `...`"),
        ("id, 'abc", 4, "the text has no end"),
        ("id, `abc", 4, "the name has no end"),
        ("id, (name", 4, "the parenthesis is not closed"),
        ("id, name)", 8, "the parenthesis was not opened"),
        ("id -- all", 3, "comments are not supported here"),
        ("id; name", 2, "expected one expression, without ';'"),
        ("id, name, id", 10, "expected each column once, but id is repeated"),
        ("", 0, "expected an expression, found nothing"),
        ("id,", 3, "expected a column before and after each comma"),
        (",", 1, "expected a column before and after each comma"),
    ],
)
def test_a_wrong_projection_is_told_with_its_place(projection, offset, sentence):
    (problem,) = rule_problems(TransformRule(source_table="a", projection=projection))
    assert (problem.field, problem.offset) == ("projection", offset)
    assert problem.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("*", "expected a condition, found '*'"),
        ("id > ", "expected an expression of SQL; here it goes wrong"),
        ("id > 1 GROUP BY id", "expected an expression of SQL, found GROUP"),
        ("id = 1, id = 2", "expected an expression of SQL; here it goes wrong"),
        ("EXISTS (SELECT 1)", "unknown function 'EXISTS'"),
        ("id IN (SELECT 1)", "a query is not supported in a transform"),
    ],
)
def test_a_wrong_condition_is_told(condition, sentence):
    (problem,) = rule_problems(TransformRule(source_table="a", filter=condition))
    assert problem.field == "filter"
    assert problem.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"projection": "id, nam"}, "option 'projection': there is no column 'nam'; did you mean 'name'?"),
        ({"condition": "UPPER(nam) = 'x'"}, "option 'filter': there is no column 'nam'; did you mean 'name'?"),
        ({"projection": "id", "primary_keys": ("name",)}, "option 'primary-keys': there is no column 'name'"),
        ({"projection": "id", "partition_keys": ("name",)}, "option 'partition-keys': there is no column 'name'"),
    ],
)
def test_columns_that_there_are_not(rule, sentence):
    with pytest.raises(PipelineError, match=re.escape(sentence)):
        bind(columns=("id", "name"), **rule)


def test_a_key_is_not_computed_anew_each_time():
    rule = TransformRule(source_table="a", projection="*, UPPER(uuid()) AS token", primary_keys=("token",))
    (problem,) = rule_problems(rule)
    assert (problem.field, problem.offset) == ("projection", 3)
    assert problem.sentence.startswith(
        "column token of 'primary-keys' is computed by UUID, which returns another value"
    )


def test_types_of_columns_decide():
    transform = Transform.of(
        TransformRule(source_table="a", projection="*, a / b AS q, c[1] AS first, d[2] AS x", filter="q / 2 > 1")
    )
    types = parse_schema("a INT, b BIGINT, c ARRAY<STRING>, d ROW<x INT, `y z` STRING>").types
    bound = transform.bind(tuple(types), types=types)
    assert [column.expression for column in bound.columns[4:]] == [
        "CAST(`a` DIV `b` AS BIGINT)",
        "get(`c`, 0)",
        "(`d`).`y z`",
    ]
    assert bound.condition == "CAST((CAST(`a` DIV `b` AS BIGINT)) DIV 2 AS BIGINT) > 1"
    assert transform.bind(tuple(types)).columns[4].expression == "`a` / `b`"


def test_a_wrong_type_is_told_with_its_place():
    transform = Transform.of(TransformRule(source_table="a", projection="id, DATE_FORMAT_TZ(id, 'HH', 'UTC') AS x"))
    with pytest.raises(PipelineError, match="DATE_FORMAT_TZ takes a TIMESTAMP or a TIMESTAMP_LTZ"):
        transform.bind(("id",), types=parse_schema("id INT").types)


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        ("name <> 'x'", [0]),
        ("id = 1 AND NOT (name = 'x')", [16]),
        ("name NOT IN ('x', 'y')", [0]),
        ("name <> 'x' OR name IS NULL", []),
        ("name <> 'x' AND name IS NOT NULL", []),
        ("name IS DISTINCT FROM 'x'", []),
        ("name LIKE '^A.*'", [0]),
        ("name LIKE 'Anna'", [0]),
        ("name LIKE 'A%'", []),
        ("name LIKE '^' ESCAPE '!'", []),
        ("NOT (id > 1)", []),
        ("1 <> 2", []),
    ],
)
def test_filters_that_drop_what_flink_cdc_keeps_are_told(condition, places):
    rule = TransformRule(source_table="a", filter=condition, places=lambda _, offset: DocumentPosition(1, 1 + offset))
    assert [problem.position.column - 1 for problem in dropped_rows([rule])] == places


def test_metadata_of_the_source_can_be_read():
    transform = Transform.of(TransformRule(source_table="a", projection="*, offset AS position"))
    assert transform.bind(("id",), metadata=("offset",)).columns[1].expression == "`offset`"


def test_a_table_has_the_transforms_that_match_it_in_order():
    first = TransformRule(source_table="mydb.web_order", filter="id > 1")
    second = TransformRule(source_table=r"mydb.\.*", projection="id")
    transforms = Transforms([first, second])
    assert [each.rule for each in transforms.of_table(TableId.parse("mydb.web_order"))] == [first, second]
    assert [each.rule for each in transforms.of_table(TableId.parse("MYDB.other"))] == [second]
    assert transforms.of_table(TableId.parse("other.other")) == ()


def test_problems_of_a_file_are_told_at_the_character():
    text = """
source: {type: kafka, properties.bootstrap.servers: 'h:1', topic: t}
sink: {type: kafka, properties.bootstrap.servers: 'h:1'}
transform:
  - source-table: a
    projection: id, UPER(name) AS name
    filter: "id > 1 AND UPER(name) = 'x'"
  - source-table: b
    projection: |
      id,
      UPER(name) AS name
"""
    with pytest.raises(PipelineError) as wrong:
        read_pipeline(text)
    assert [str(problem) for problem in wrong.value.problems] == [
        "line 6, column 21: option 'projection': unknown function 'UPER'; did you mean UPPER?",
        "line 7, column 25: option 'filter': unknown function 'UPER'; did you mean UPPER?",
        "line 9, column 17: option 'projection': unknown function 'UPER'; did you mean UPPER?",
    ]


TERMS = st.recursive(
    st.sampled_from(["id", "name", "1", "'it''s'", "NULL", "`id`"]),
    lambda inner: st.one_of(
        st.builds("UPPER({})".format, inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "||", "=", "AND"]), inner),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, inner, inner, inner),
        st.builds("COALESCE({}, {})".format, inner, inner),
        st.builds("CAST({} AS STRING)".format, inner),
    ),
    max_leaves=8,
)


@given(TERMS)
def test_what_is_written_for_spark_means_the_same_when_it_is_read_again(term):
    once = sql_of(term)
    again = once.replace("\\'", "''")
    assert sql_of(again) == once


@given(st.text(alphabet="id,*()'`+- AS\\UPER\"", max_size=20))
def test_any_text_is_a_projection_or_a_problem(text):
    problems = list(rule_problems(TransformRule(source_table="a", projection=text)))
    if problems:
        assert all(0 <= each.offset <= len(text) for each in problems)
    else:
        assert parse_projection(text)


def test_the_docs_list_every_function():
    page = (Path(__file__).parents[3] / "docs/pipelines.md").read_text("utf-8")
    assert [name for name in FUNCTIONS if not re.search(rf"`{name}\b", page)] == []


HALF = by_name([UserFunction.of(FunctionDefinition(name="Half", code="def eval(n: int) -> float: return n / 2"))])


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"projection": "half(id)"}, ("projection", "expected a name for the expression: write AS and a name", 0)),
        ({"projection": "id, half(id +) AS h"}, ("projection", "argument of half: expected an expression of SQL", 12)),
        ({"filter": "half(half()) > nope("}, ("filter", "the parenthesis is not closed", 19)),
        ({"filter": "halve(id) > 1"}, ("filter", "unknown function 'halve'", 0)),
    ],
)
def test_a_wrong_call_of_a_users_function_is_told_with_its_place(rule, problem):
    found = [*rule_problems(TransformRule(source_table="a", **rule), HALF)]
    assert (problem[0], problem[2]) in [(each.field, each.offset) for each in found]
    assert any(each.sentence.startswith(problem[1]) for each in found)


def test_a_column_that_an_argument_names_wrongly_is_told_with_its_place():
    rule = TransformRule(source_table="a", projection="id, 1 + HALF(half(naem)) AS h")
    with pytest.raises(PipelineError, match="option 'projection': there is no column 'naem'; did you mean 'name'"):
        Transform.of(rule, HALF).bind(["id", "name"])


def test_the_result_of_a_call_has_the_type_of_the_function():
    transform = Transform.of(TransformRule(source_table="a", projection="half(id) / 2 AS quarter"), HALF)
    (quarter,) = transform.bind(["id"], types={"id": BIGINT}).columns
    (call,) = transform.calls
    # A quotient of integers would be one without a fraction
    assert quarter.parts == ("", call.call.column, " / 2")


def test_filters_that_call_users_functions_are_warned_of_too():
    rule = TransformRule(source_table="a", filter="half(id) <> 2 OR half(half(id)) > 1")
    (warning,) = dropped_rows([rule], HALF)
    assert warning.sentence.startswith("option 'filter': a row whose value is NULL is dropped")
