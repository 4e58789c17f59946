"""The functions of transforms give in Spark what Flink CDC's page on transforms says."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.spark_functions import SPARK_FUNCTIONS
from millrace_catalog.types.spark import from_spark_schema
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.transforms.transform import Transform

ROW = """
    7 AS id, 'Anna' AS name, CAST(NULL AS STRING) AS missing, TIMESTAMP_NTZ '2024-02-29 12:30:45.123' AS ts,
    TIMESTAMP '2024-02-29 12:30:45.123' AS ltz, DATE '2024-02-29' AS day, CAST('10:11:12' AS TIME(0)) AS hours,
    array('a') AS tags, map('k', 1) AS counts, named_struct('x', 1, 'y', 'z') AS pair, CAST(7.7 AS FLOAT) AS ratio,
    parse_json('{"a": {"b b": [10, 20]}}') AS doc, CAST(7.5 AS DECIMAL(10, 2)) AS price
"""

TEXTS = {
    "LTRIM('  a ')": "a ",
    "LTRIM('xxCDC', 'x')": "CDC",
    "RTRIM(' a  ')": " a",
    "RTRIM('CDCyy', 'y')": "CDC",
    "BTRIM(' a ')": "a",
    "BTRIM('xyCDCxy', 'xy')": "CDC",
    "REGEXP_REPLACE('a.b', '\\.', '$1\\x')": "a$1\\xb",
    "REGEXP_REPLACE('a.b', '\\.', CONCAT('$', '1'))": "a$1b",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')": "foothebar",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)": "bar",
    "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 3)": None,
    "REGEXP_EXTRACT('foothebar', 'x')": None,
    "REGEXP_EXTRACT_ALL('a1b22', '([0-9]+)')": ["1", "22"],
    "REGEXP_COUNT('a1b22', '[0-9]+')": 2,
    "REGEXP_INSTR('ab22', '[0-9]+')": 3,
    "REGEXP_SUBSTR('ab22', '[0-9]+')": "22",
    "REGEXP_SUBSTR('ab', '[0-9]+')": None,
    "OVERLAY('abcdef' PLACING 'XY' FROM 3)": "abXYef",
    "OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR 3)": "abXYf",
    "OVERLAY('abc' PLACING 'XY' FROM 9)": "abc",
    "POSITION('n' IN name)": 2,
    "POSITION('n' IN name FROM 3)": 3,
    "POSITION('z' IN name)": 0,
    "LOCATE('n', name)": 2,
    "LOCATE('n', name, 3)": 3,
    "INSTR(name, 'n')": 2,
    "CONCAT_WS('-', 'a', missing, 'b')": "a-b",
    "LPAD('hi', 5, 'xy')": "xyxhi",
    "RPAD('hi', 5, 'xy')": "hixyx",
    "REPLACE('abab', 'b', 'c')": "acac",
    "REPEAT('ab', 2)": "abab",
    "LEFT(name, 2)": "An",
    "RIGHT(name, 2)": "na",
    "STARTSWITH(name, 'An')": True,
    "ENDSWITH(name, 'An')": False,
    "TO_BASE64('hello')": "aGVsbG8=",
    "FROM_BASE64('aGVsbG8=')": "hello",
    "FROM_BASE64_BINARY('aGVsbG8=') = CAST('hello' AS BYTES)": True,
    "SPLIT_INDEX('a.b.c', '.', 1)": "b",
    "SPLIT_INDEX('a.b.c', '.', 3)": None,
    "STR_TO_MAP('a=1,b=2')": {"a": "1", "b": "2"},
    "SHA224('a') = SHA2('a', 224)": True,
    "SHA256('a') = SHA2('a', 256)": True,
    "SHA384('a') = SHA2('a', 384)": True,
    "SHA512('a') = SHA2('a', 512)": True,
    "initcap('ada lovelace')": "Ada Lovelace",
    "MD5('a')": "0cc175b9c0f1b6a831c399e269772661",
}

TIMES = {
    "DATE_FORMAT_TZ(ltz, 'yyyy-MM-dd HH:mm', 'Asia/Shanghai')": "2024-02-29 20:30",
    "DATE_FORMAT_TZ(ltz, '+08:00')": "2024-02-29 20:30:45",
    "DATE_FORMAT_TZ(ts, 'HH:mm', 'Asia/Shanghai')": "12:30",
    "DATE_FORMAT(hours, 'HH::mm')": "10::11",
    "EXTRACT(YEAR FROM ts)": 2024,
    "EXTRACT(DOW FROM ts)": 5,
    "EXTRACT(SECOND FROM ts)": 45,
    "EXTRACT(HOUR FROM day)": 0,
    "YEAR(ts)": 2024,
    "QUARTER(ts)": 1,
    "MONTH(day)": 2,
    "WEEK(ts)": 9,
    "DAYOFYEAR(ts)": 60,
    "DAYOFMONTH(ts)": 29,
    "DAYOFWEEK(ts)": 5,
    "HOUR(hours)": 10,
    "MINUTE(ts)": 30,
    "SECOND(ts)": 45,
    "ts + INTERVAL '1' DAY": datetime.datetime(2024, 3, 1, 12, 30, 45, 123000),
    "INTERVAL '1-2' YEAR TO MONTH + ts": datetime.datetime(2025, 4, 29, 12, 30, 45, 123000),
    "ts - INTERVAL '1 02:03:04' DAY TO SECOND": datetime.datetime(2024, 2, 28, 10, 27, 41, 123000),
    "day + INTERVAL '25' HOUR": datetime.date(2024, 3, 1),
    "TIMESTAMPDIFF(MONTH, TO_TIMESTAMP('2024-01-31 00:00:00'), ts)": 1,
    "TIMESTAMPDIFF(YEAR, TO_TIMESTAMP('2023-12-31 00:00:00'), ts)": 1,
    "TIMESTAMP_DIFF('MINUTE', ts, ts)": 0,
    "CAST(TO_TIMESTAMP_LTZ(44000) AS STRING)": "1970-01-01 00:00:44",
    "CAST(TO_TIMESTAMP_LTZ('1970-01-01 00:00:44.5') AS STRING)": "1970-01-01 00:00:44.5",
    "CAST(TO_TIMESTAMP_LTZ('1970-01-01 08', 'yyyy-MM-dd HH', 'Asia/Shanghai') AS STRING)": "1970-01-01 00:00:00",
    "TO_TIMESTAMP_LTZ(44, 0) = TO_TIMESTAMP_LTZ(44000, 3)": True,
    "PROCTIME() = NOW()": True,
    "day > DATE '2024-02-28'": True,
}

NESTED = {
    "ARRAY[1, 2]": [1, 2],
    "ARRAY[ARRAY[1], ARRAY[id]]": [[1], [7]],
    "MAP['a', 1, 'b', id]": {"a": 1, "b": 7},
    "ROW(id, name)": (7, "Anna"),
    "ROW(id, name)[2]": "Anna",
    "CARDINALITY(tags)": 1,
    "CARDINALITY(counts)": 1,
    "ARRAY_CONTAINS(tags, 'a')": True,
    "ARRAY_CONTAINS(ARRAY['a', missing], 'b')": False,
    "ARRAY_CONTAINS(ARRAY['a', missing], missing)": True,
    "ARRAY_POSITION(tags, 'a')": 1,
    "ARRAY_POSITION(tags, 'b')": 0,
    "ELEMENT(tags)": "a",
    "tags[0]": None,
    "tags[id - 6]": "a",
    "tags[id - 9]": None,
    "counts['k']": 1,
    "counts['z']": None,
    "pair[2]": "z",
    "CAST(doc['a']['b b'][2] AS INT)": 20,
    "CAST(doc['a']['b b'][3] AS INT)": None,
    "CAST(PARSE_JSON(id) AS INT)": 7,
    "PARSE_JSON('') IS NULL": True,
    "array_max(ARRAY[1, 3, 2])": 3,
}

NUMBERS = {
    "id / 2": 3,
    "-id / 2": -3,
    "id / 2.0": Decimal("3.5"),
    "id / CAST(2 AS DOUBLE)": 3.5,
    "(id + 1) / 3 * 2": 4,
    "CAST(ratio + 1 AS STRING)": "8.7",
    "CAST(ratio / 2 AS STRING)": "3.85",
    "price * 2": Decimal("15.00"),
    "MOD(id, 4)": 3,
    "CEIL(id)": 7,
    "CAST(CEIL(CAST(1.2 AS DOUBLE)) AS STRING)": "2.0",
    "GREATEST(1, id, 3)": 7,
    "LEAST(1, NULL)": None,
    "IFNULL(missing, 'x')": "x",
    "NULLIF(id, 7)": None,
    "NULLIF(CAST(id AS BIGINT), CAST(4 AS INT))": 7,
    "TRY_CAST('x' AS INT)": None,
    "TRY_CAST('12' AS INT)": 12,
    "CAST('2.50' AS DECIMAL(10, 2)) / 2": Decimal("1.25"),
}

PATTERNS = {
    "missing IS DISTINCT FROM NULL": False,
    "id IS NOT DISTINCT FROM 7": True,
    "missing IS UNKNOWN": True,
    "name SIMILAR TO 'A(nn|xx)[a-z]'": True,
    "name SIMILAR TO 'A%'": True,
    "name SIMILAR TO 'A.*'": False,
    "name NOT SIMILAR TO 'a%'": True,
    "'a_b' SIMILAR TO 'a!_b' ESCAPE '!'": True,
    "'axb' SIMILAR TO 'a!_b' ESCAPE '!'": False,
    "'7a' SIMILAR TO '[[:DIGIT:]][[:ALPHA:]]'": True,
    "'a%' LIKE 'a!%' ESCAPE '!'": True,
    "'ab' LIKE 'a!%' ESCAPE '!'": False,
    "'a\\b' LIKE 'a\\_'": True,
    "missing LIKE 'a'": None,
    "name = 'x' OR missing = 'x'": None,
}

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
    "TO_DATE('no date')": None,
    "TO_DATE('2024 !! 02 !! 14', 'yyyy//MM//dd')": None,
    "TO_DATE(ts)": datetime.date(2024, 2, 29),
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
    **TEXTS,
    **TIMES,
    **NESTED,
    **NUMBERS,
    **PATTERNS,
}


@pytest.fixture
def times(spark):
    """Columns of times, which Spark has only where this is set."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    yield
    spark.conf.unset("spark.sql.timeType.enabled")


def test_each_function_is_tried():
    tried = " ".join(VALUES)
    assert [name for name in FUNCTIONS if name not in tried] == []


@pytest.mark.usefixtures("times")
def test_functions_on_spark(spark):
    rows = spark.sql(f"SELECT {ROW}")
    items = [f"{expression} AS c{number}" for number, expression in enumerate(VALUES)]
    transform = Transform.of(TransformRule(source_table="t", projection=", ".join(items), filter="id = 7"))
    bound = transform.bind(rows.columns, types=from_spark_schema(rows.schema).types)
    (row,) = (
        rows.where(bound.condition)
        .selectExpr(*(f"{each.expression} AS {each.name}" for each in bound.columns))
        .collect()
    )
    assert dict(zip(VALUES, row, strict=True)) == VALUES


def test_spark_has_the_functions_that_may_be_called_by_their_names(spark):
    known = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert sorted(SPARK_FUNCTIONS - known) == []


@pytest.mark.parametrize("projection", ["UPPER(name) AS name, *", r"\*, id + 1 AS next"])
def test_a_projection_has_its_columns(spark, projection):
    rows = spark.sql("SELECT 7 AS id, 'Anna' AS name")
    bound = Transform.of(TransformRule(source_table="t", projection=projection)).bind(rows.columns)
    made = rows.selectExpr(*(f"{each.expression} AS `{each.name}`" for each in bound.columns))
    assert made.columns == [each.name for each in bound.columns]
