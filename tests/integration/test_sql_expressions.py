"""Expressions of queries give in Spark what Flink's documentation of its functions says."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from millrace_sql.errors import SqlError
from millrace_sql.planner import InputColumn, InputTable, plan_query
from millrace_sql.script_texts import Identifier, SqlText

ROW = """
    7 AS i, 2L AS b, 7.5D AS d, CAST(7.5 AS DECIMAL(10, 2)) AS p, TRUE AS f, array(10, 20) AS arr, map('a', 1) AS m,
    'Anna' AS s, CAST(NULL AS STRING) AS missing, TIMESTAMP_NTZ '2024-02-29 12:30:45.123' AS ts
"""
VALUES = {
    "i / 2": 3,
    "-i / 2": -3,
    "(i + 1) / 3 * 2": 4,
    "b / i": 0,
    "i / 2.0": Decimal("3.500000"),
    "d / 2": 3.75,
    "CASE WHEN f THEN i ELSE 1 END / 2": 3,
    "arr[1]": 10,
    "arr[i - 5]": 20,
    "arr[3]": None,
    "arr[1] / 3": 3,
    "m['a']": 1,
    "m['z']": None,
    "MOD(i, 4)": 3,
    "CHAR_LENGTH(s)": 4,
    "CEILING(d)": 8,
    "SUBSTR(s, 2)": "nna",
    "SUBSTRING(s FROM 2 FOR 2)": "nn",
    "'it''s'": "it's",
    "ARRAY[1, 2]": [1, 2],
    "MAP['a', 1]": {"a": 1},
    "ROW(1, s)": (1, "Anna"),
    "CARDINALITY(ARRAY[1, 2])": 2,
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)": "bar",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')": "foothebar",
    "REGEXP_EXTRACT(s, 'x')": None,
    "REGEXP_REPLACE('foobar', 'oo|ar', '$1')": "f$1b$1",
    "GREATEST(1, i, 3)": 7,
    "GREATEST(1, CAST(NULL AS INT))": None,
    "LEAST(s, missing)": None,
    "STR_TO_MAP('k1=v1,k2=v2')": {"k1": "v1", "k2": "v2"},
    "STR_TO_MAP('k1:v1;k2:v2', ';', ':')": {"k1": "v1", "k2": "v2"},
    "SPLIT_INDEX('a.b', '.', 1)": "b",
    "SPLIT_INDEX('a.b', '.', 2)": None,
    "CAST(f AS STRING)": "TRUE",
    "CAST(i > 100 AS VARCHAR)": "FALSE",
    "CAST(i AS STRING)": "7",
    "JSON_VALUE('{\"a\": 10.0}', '$.a')": "10.0",
    "JSON_VALUE('{\"a\": 100000000.5}', '$.a')": "100000000.5",
    "JSON_VALUE('{\"a\": 0.1234567890123456789}', '$.a')": "0.1234567890123456789",
    "JSON_VALUE('{}', '$.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)": "r",
    "JSON_VALUE('{}', 'lax $.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)": "e",
    "JSON_VALUE('bad', 'lax $.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)": "e",
    "JSON_VALUE('{\"a\": {}}', '$.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)": "r",
    "JSON_VALUE('{\"a\": null}', '$.a' DEFAULT 'e' ON EMPTY)": None,
    "JSON_VALUE(missing, 'lax $.a' DEFAULT 'e' ON EMPTY)": None,
    "JSON_VALUE('[{\"a\": 1}]', '$.a')": None,
    "JSON_VALUE('{\"a\": 1} x', '$.a')": "1",
    # The docs tell of names that stand twice
    "JSON_VALUE('{\"a\": 1, \"a\": 2}', '$.a')": None,
    "JSON_VALUE('{\"a\": 1, \"a\": 2}', '$.a' RETURNING INT DEFAULT 3 ON ERROR)": 3,
    "JSON_QUERY('{\"a\": [1], \"a\": [2]}', '$.a')": None,
    '\'{"a": 1, "a": 2}\' IS JSON': False,
    'JSON_QUERY(\'{"b": {"z": 1, "a": ["", {"y": 1, "x": 2}]}}\', \'$\')': '{"b":{"a":["",{"x":2,"y":1}],"z":1}}',
    "JSON_QUERY('{\"a\": 1}', '$.a')": None,
    "JSON_QUERY('{\"a\": [1, 2]}', '$.a' WITH WRAPPER)": "[[1,2]]",
    "JSON_QUERY('{\"a\": [1]}', '$.a' WITH CONDITIONAL WRAPPER)": "[1]",
    "JSON_QUERY('{\"a\": null}', '$.a' WITH WRAPPER)": None,
    "JSON_QUERY('bad', '$.a' EMPTY OBJECT ON ERROR)": "{}",
    "JSON_QUERY('{}', '$.a' EMPTY ARRAY ON EMPTY)": None,
    "JSON_QUERY('{}', 'lax $.a' EMPTY ARRAY ON EMPTY)": "[]",
    "JSON_EXISTS('{\"a\": null}', '$.a')": False,
    "JSON_EXISTS('{\"a\": {}}', '$.a')": True,
    "JSON_EXISTS('bad', '$.b' UNKNOWN ON ERROR)": None,
    "JSON_EXISTS('bad', 'lax $.b' TRUE ON ERROR)": False,
    "JSON_EXISTS(missing, '$')": None,
    "missing IS JSON": False,
    "missing IS NOT JSON": True,
    "'null' IS JSON SCALAR": True,
    "' [1]' IS JSON ARRAY": True,
    "'{\"a\": 01}' IS JSON": False,
    "JSON_OBJECT('k' VALUE missing)": '{"k":null}',
    "JSON_OBJECT('b' VALUE 1, 'a' VALUE p, 'b' VALUE 'x\"' ABSENT ON NULL)": '{"a":7.50,"b":"x\\""}',
    "JSON_OBJECT('k' VALUE ROW(1, missing), 'l' VALUE JSON_ARRAY(missing, f) ABSENT ON NULL)": (
        '{"k":{"EXPR$0":1,"EXPR$1":null},"l":[true]}'
    ),
    "JSON_ARRAY(missing, 1 NULL ON NULL)": "[null,1]",
    "JSON_STRING(missing)": None,
    "JSON_STRING(m)": '{"a":1}',
    "FLOOR(ts TO WEEK)": datetime.datetime(2024, 2, 25),
    "CEIL(ts TO HOUR)": datetime.datetime(2024, 2, 29, 13),
    "CEIL(TIMESTAMP_NTZ '2024-05-01 00:00:01' TO MONTH)": datetime.datetime(2024, 5, 1),
    "CEIL(DATE '2024-05-29' TO YEAR)": datetime.date(2025, 1, 1),
    "FLOOR(DATE '2024-05-29' TO HOUR)": datetime.date(2024, 5, 29),
    "TRUNCATE(p, 1)": Decimal("7.5"),
    "TRUNCATE(-42.345, 2)": Decimal("-42.34"),
    "TRUNCATE(CAST(-42.345 AS DOUBLE), 2)": -42.34,
    "TRUNCATE(-47, -1)": -40,
    "JSON_VALUE('{\"a\": 15}', '$.a')": "15",
    "JSON_VALUE('{\"a\": \"1.50\"}', '$.a')": "1.50",
    "TO_TIMESTAMP('2024-02-29 01:02:03')": datetime.datetime(2024, 2, 29, 1, 2, 3),
    "TO_TIMESTAMP('2024-02-29 01:02:03.123456')": datetime.datetime(2024, 2, 29, 1, 2, 3, 123000),
    "TO_TIMESTAMP('tomorrow')": None,
    "TO_TIMESTAMP('2024-02-30 01:02:03')": None,
    "TO_TIMESTAMP('29.2.2024', 'd.M.yyyy')": datetime.datetime(2024, 2, 29),
    "TO_TIMESTAMP('x', 'd.M.yyyy')": None,
    "TO_DATE('2024-02-29')": datetime.date(2024, 2, 29),
    "TO_DATE('x')": None,
    "TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')": 1,
    "TIMESTAMPDIFF(MONTH, DATE '2024-01-15', DATE '2024-02-14')": 0,
    "TIMESTAMPDIFF(MONTH, DATE '2024-03-15', DATE '2024-01-15')": -2,
    "TIMESTAMPDIFF(YEAR, DATE '2023-02-28', ts)": 1,
    "TIMESTAMPDIFF(DAY, DATE '2024-02-01', ts)": 28,
    "EXTRACT(SECOND FROM ts)": 45,
    "EXTRACT(YEAR FROM ts)": 2024,
    "WEEK(ts)": 9,
    "s SIMILAR TO 'A%'": True,
    "s SIMILAR TO 'A.*'": False,
    "SHA256('a') = sha2('a', 256)": True,
    "TO_BASE64('hello')": "aGVsbG8=",
    "FROM_BASE64('aGVsbG8=')": "hello",
    "MD5('a') = md5('a')": True,
}
AGGREGATES = {
    "AVG(v)": 1,
    "AVG(DISTINCT v)": 1,
    "AVG(v) FILTER (WHERE v > 1)": 2,
    "AVG(CAST(v AS DOUBLE))": 1.5,
    "SUM(v) / COUNT(*)": 1,
    "LISTAGG(t)": "a,b",
    "LISTAGG(t, '-')": "a-b",
    "LAST_VALUE(t)": "b",
    "FIRST_VALUE(u)": "y",
    "AVG(v / 2)": 0,
}
SPARK = {"i / 2": 3.5, "arr[1]": 20, "GREATEST(1, CAST(NULL AS INT))": 1, "ARRAY[1]": [1], "CAST(f AS STRING)": "true"}


def values(spark, rows, expressions, **options):
    table = InputTable(
        Identifier(("c", "d", "t")), tuple(InputColumn(field.name, field.dataType) for field in rows.schema)
    )
    items = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
    plan = plan_query(SqlText(f"SELECT {items} FROM t"), lambda *_: table, streaming=False, **options)
    (row,) = plan.execute(spark, lambda _: rows).collect()
    return dict(zip(expressions, row, strict=True))


def test_expressions_mean_what_they_mean_in_flink(spark):
    assert values(spark, spark.sql(f"SELECT {ROW}"), VALUES) == VALUES


def test_aggregates_mean_what_they_mean_in_flink(spark):
    rows = spark.sql("SELECT * FROM VALUES (1, 'a', CAST(NULL AS STRING)), (2, 'b', 'y') AS t(v, t, u)").coalesce(1)
    assert values(spark, rows, AGGREGATES) == AGGREGATES


def test_expressions_mean_what_they_mean_in_spark_where_that_is_set(spark):
    assert values(spark, spark.sql(f"SELECT {ROW}"), SPARK, is_spark=True) == SPARK


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("arr[0]", "arr[0] is no element: arrays are counted from 1"),
        ("hash(i) / 2", "write hash(i) DIV 2 for a quotient of integers"),
        ("AVG(hash(i))", "write SUM(hash(i)) DIV COUNT(hash(i)) for the average of integers"),
        ("s SIMILAR TO s", "SIMILAR TO takes a pattern that is a text"),
    ],
)
def test_an_expression_whose_meaning_cannot_be_told_is_refused(spark, expression, message):
    with pytest.raises(SqlError) as caught:
        values(spark, spark.sql(f"SELECT {ROW}"), [expression])
    assert message in str(caught.value)
