"""The functions of transforms give in Spark what Flink CDC's page on transforms says."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.transforms.transform import Transform

VALUES = {
    "ABS(-5)": 5,
    "CEIL(1.2)": Decimal(2),
    "CEILING(1.2)": Decimal(2),
    "FLOOR(1.8)": Decimal(1),
    "ROUND(1.256, 2)": Decimal("1.26"),
    "CHAR_LENGTH(UUID())": 36,
    "CHARACTER_LENGTH('äöü')": 3,
    "name || '-' || 'x'": "Anna-x",
    "UPPER(name)": "ANNA",
    "LOWER(name)": "anna",
    "TRIM('  a ')": "a",
    "REGEXP_REPLACE('foobar', 'oo|ar', '')": "fb",
    "REGEXP_REPLACE('a1b22', '\\d+', '#')": "a#b#",
    "SUBSTR(name, 2)": "nna",
    "SUBSTR(name, 2, 1)": "n",
    "SUBSTRING(name, 3)": "na",
    "SUBSTRING(name FROM 2 FOR 2)": "nn",
    "CONCAT('AA', 'BB', 'CC')": "AABBCC",
    "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')": "2024-02-29 12:30:45.123",
    "TIMESTAMPADD(MONTH, 1, ts)": datetime.datetime(2024, 3, 29, 12, 30, 45, 123000),
    "TIMESTAMPDIFF(DAY, TO_TIMESTAMP('2024-01-01 00:00:00'), ts)": 59,
    "TIMESTAMP_DIFF(HOUR, ts, ts)": 0,
    "TO_DATE('2024-02-29')": datetime.date(2024, 2, 29),
    "TO_DATE('29.02.2024', 'dd.MM.yyyy')": datetime.date(2024, 2, 29),
    "TO_TIMESTAMP('2024-02-29 01:02:03')": datetime.datetime(2024, 2, 29, 1, 2, 3),
    "CAST(TO_TIMESTAMP_LTZ(44000, 3) AS STRING)": "1970-01-01 00:00:44",
    "CAST(TO_TIMESTAMP_LTZ('1970', 'yyyy') AS STRING)": "1970-01-01 00:00:00",
    "FROM_UNIXTIME(44)": "1970-01-01 00:00:44",
    "FROM_UNIXTIME(44, 'mm:ss')": "00:44",
    "UNIX_TIMESTAMP('1970-01-01 00:00:44')": 44,
    "UNIX_TIMESTAMP() > 1700000000": True,
    "DATE_ADD('2024-02-28', 2)": "2024-03-01",
    "COALESCE(NULL, name)": "Anna",
    "IF(5 > 3, 5, 3)": 5,
    "CASE name WHEN 'Anna' THEN 1 ELSE 2 END": 1,
    "CAST(id AS STRING)": "7",
    "CAST('2024-02-29T01:02:03' AS TIMESTAMP(3))": datetime.datetime(2024, 2, 29, 1, 2, 3),
    "CAST(id AS BOOLEAN)": True,
    "tags[1]": "a",
    "tags[9]": None,
    "'it''s \\d'": "it's \\d",
    "CAST(PARSE_JSON('{\"a\": 1}') AS STRING)": '{"a":1}',
    "CAST(TRY_PARSE_JSON('{') AS STRING)": None,
    "NOW() = CURRENT_TIMESTAMP": True,
    "LOCALTIMESTAMP IS NOT NULL": True,
    "CURRENT_DATE = CAST(NOW() AS DATE)": True,
    "LOCALTIME = CURRENT_TIME": True,
    "id NOT BETWEEN 1 AND 5": True,
    "name LIKE 'A%'": True,
    "id IN (1, 7) AND NOT (id <> 7)": True,
    "(id > 100) IS NOT TRUE": True,
    "id % 4": 3,
}


def test_each_function_is_tried():
    tried = " ".join(VALUES)
    assert [name for name in FUNCTIONS if name not in tried] == []


def test_functions_on_spark(spark):
    rows = spark.sql(
        "SELECT 7 AS id, 'Anna' AS name, TIMESTAMP_NTZ '2024-02-29 12:30:45.123' AS ts, array('a') AS tags"
    )
    items = [f"{expression} AS c{number}" for number, expression in enumerate(VALUES)]
    transform = Transform.of(TransformRule(source_table="t", projection=", ".join(items), filter="id = 7"))
    bound = transform.bind(rows.columns)
    (row,) = (
        rows.where(bound.condition)
        .selectExpr(*(f"{each.expression} AS {each.name}" for each in bound.columns))
        .collect()
    )
    assert dict(zip(VALUES, row, strict=True)) == VALUES


@pytest.mark.parametrize("projection", ["UPPER(name) AS name, *", r"\*, id + 1 AS next"])
def test_a_projection_has_its_columns(spark, projection):
    rows = spark.sql("SELECT 7 AS id, 'Anna' AS name")
    bound = Transform.of(TransformRule(source_table="t", projection=projection)).bind(rows.columns)
    made = rows.selectExpr(*(f"{each.expression} AS `{each.name}`" for each in bound.columns))
    assert made.columns == [each.name for each in bound.columns]
