"""Functions in Python that scripts create and queries call."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal

import pytest

from millrace_sql import SqlError, TableEnvironment
from millrace_sql.parser import parse
from millrace_sql.planner.user_functions import PREFIX
from millrace_sql.render import render

CODE = """
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from millrace_sql import udf, udtf


def mask(iban: str) -> str:
    return None if iban is None else iban[:2] + "*" * (len(iban) - 2)


def doubled(numbers: pa.Int32Array) -> pa.Int32Array:
    return pc.multiply(numbers, 2)


def words(text: str) -> Iterator[tuple[str, int]]:
    for word in (text or "").split():
        yield word, len(word)


def letters(text: str) -> Iterator[str]:
    yield from text


@udf(result_type="DECIMAL(10, 2)")
def tax(amount):
    return amount * Decimal("0.19")


@udtf(result_types=["STRING", "DECIMAL(4, 1)"])
def priced(text):
    yield text, Decimal("1.5")


def answer() -> int:
    return 42


def untyped(text):
    return text


class Shout:
    def eval(self, text: str) -> str:
        return text + "!"
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that only the driver finds."""
    (tmp_path / "millrace_test_functions.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "millrace_test_functions"
    sys.modules.pop("millrace_test_functions", None)


@pytest.fixture
def env(spark, module):
    made = TableEnvironment(spark)
    made.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    for name in ("mask", "doubled", "words", "letters", "tax", "priced", "answer", "Shout"):
        made.execute_sql(f"CREATE TEMPORARY FUNCTION {name} AS '{module}.{name}' LANGUAGE PYTHON")
    return made


def rows(env, query):
    with env.execute_sql(query).collect() as found:
        return [tuple(row) for row in found]


def test_functions_return_a_value_of_each_row(env):
    columns = "mask(x), MASK(NULL), doubled(n), tax(CAST(n AS DECIMAL(10, 2))), answer(), answer() / 5, shout(x)"
    query = f"SELECT {columns} FROM (VALUES ('DE12', 7)) AS t (x, n)"

    assert rows(env, query) == [("DE**", None, 14, Decimal("1.33"), 42, 8, "DE12!")]


def test_table_functions_return_rows_beside_each_row(env):
    values = "(VALUES ('a bc'), ('')) AS t (x)"

    assert rows(env, f"SELECT x, w, n FROM {values} CROSS JOIN LATERAL TABLE(words(x)) AS s (w, n)") == [
        ("a bc", "a", 1),
        ("a bc", "bc", 2),
    ]
    outer = rows(env, f"SELECT x, w, n FROM {values} LEFT JOIN LATERAL TABLE(words(x)) AS s (w, n) ON TRUE")
    assert outer == [("a bc", "a", 1), ("a bc", "bc", 2), ("", None, None)]
    assert rows(env, f"SELECT l FROM {values}, LATERAL TABLE(letters(x)) AS s (l) WHERE l > 'a'") == [("b",), ("c",)]
    assert rows(env, "SELECT f1 FROM (VALUES ('a')) AS t (x), LATERAL TABLE(priced(x)) AS s") == [(Decimal("1.5"),)]


def test_views_and_computed_columns_call_functions(env, tmp_path):
    env.execute_sql(f"""CREATE TABLE accounts (iban STRING, shown AS mask(iban))
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/accounts', 'format' = 'json')""")
    env.execute_sql("INSERT INTO accounts VALUES ('FR76')")
    env.execute_sql("CREATE TEMPORARY VIEW loud AS SELECT shout(shown) AS text FROM accounts")

    assert rows(env, "SELECT text FROM loud") == [("FR**!",)]


def test_a_stream_calls_functions_and_has_times(env, tmp_path):
    env.execute_sql(f"""CREATE TABLE texts (x STRING)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/texts', 'format' = 'json')""")
    env.execute_sql("INSERT INTO texts VALUES ('09:30 a'), ('10:15 b')")
    env.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
    query = """SELECT CAST(SPLIT_INDEX(x, ' ', 0) AS TIME), shout(w), n
        FROM texts CROSS JOIN LATERAL TABLE(words(x)) AS s (w, n) WHERE n = 1"""

    assert sorted(rows(env, query)) == [(datetime.time(9, 30), "a!", 1), (datetime.time(10, 15), "b!", 1)]


def test_functions_are_listed_and_dropped(env, module):
    env.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION Upper AS '{module}.mask' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE FUNCTION IF NOT EXISTS kept AS '{module}.mask' LANGUAGE PYTHON")

    assert rows(env, "SELECT UPPER('abc'), default_catalog.default_database.kept('abc')") == [("ab*", "ab*")]
    listed = [name for (name,) in rows(env, "SHOW USER FUNCTIONS")]
    assert {"kept", "mask", "upper", "words"} <= set(listed)
    assert [name for name in listed if PREFIX in name] == []
    env.execute_sql("DROP TEMPORARY SYSTEM FUNCTION upper")
    env.execute_sql("DROP FUNCTION kept")
    env.execute_sql("DROP FUNCTION IF EXISTS kept")
    assert rows(env, "SELECT UPPER('abc')") == [("ABC",)]


def test_functions_that_are_not_temporary_are_kept(spark, module, tmp_path):
    made = TableEnvironment(spark, catalog_store=str(tmp_path / "store"))
    made.execute_sql(f"CREATE FUNCTION mask AS '{module}.mask' LANGUAGE PYTHON")
    made.execute_sql(f"CREATE TEMPORARY FUNCTION other AS '{module}.mask' LANGUAGE PYTHON")

    later = TableEnvironment(spark, catalog_store=str(tmp_path / "store"))
    later.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    assert rows(later, "SELECT mask('abc')") == [("ab*",)]
    later.execute_sql("DROP FUNCTION mask")
    assert list(TableEnvironment(spark, catalog_store=str(tmp_path / "store"))._runner.functions.functions()) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE FUNCTION f AS '{}.untyped' LANGUAGE PYTHON", r"its results have no type: annotate .* decorator @udf"),
        ("CREATE FUNCTION f AS '{}.nothing' LANGUAGE PYTHON", "there is no function 'nothing' in module"),
        ("CREATE FUNCTION f AS 'no_such_module.f' LANGUAGE PYTHON", "no module 'no_such_module' can be imported"),
        ("CREATE FUNCTION f AS 'mask' LANGUAGE PYTHON", "expected module.function or file.py:function, found 'mask'"),
        ("CREATE FUNCTION f AS 'com.acme.F'", "cannot run here: write LANGUAGE PYTHON"),
        ("CREATE FUNCTION f AS 'com.acme.F' LANGUAGE SCALA", "a function in SCALA cannot run here"),
        ("CREATE FUNCTION upper AS '{}.mask' LANGUAGE PYTHON", "upper is a built-in function: choose another name"),
        ("CREATE SYSTEM FUNCTION f AS '{}.mask' LANGUAGE PYTHON", "write CREATE TEMPORARY SYSTEM FUNCTION"),
        ("CREATE TEMPORARY FUNCTION mask AS '{}.mask' LANGUAGE PYTHON", "function mask exists already: DROP it"),
        ("DROP FUNCTION mask", "is another kind of function: write DROP TEMPORARY FUNCTION"),
        ("DROP TEMPORARY FUNCTION msk", "there is no function msk; did you mean mask"),
        ("SELECT words('x')", r"words is a table function: write JOIN LATERAL TABLE\(words\(x\)\) ON TRUE"),
        ("SELECT mask(1)", "function mask: its argument iban is str, but the expression is INT"),
        ("SELECT mask()", r"it takes the arguments \(iban\), not 0 of them"),
        ("CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON USING JAR 'a.jar'", "USING is not supported: name a function in"),
        ("ALTER FUNCTION f AS 'a.b'", r"ALTER FUNCTION is not supported: DROP FUNCTION, and CREATE FUNCTION"),
    ],
)
def test_functions_that_cannot_be_called_are_refused_with_what_to_do(env, module, statement, message):
    with pytest.raises(SqlError, match=message):
        env.execute_sql(statement.format(module))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE FUNCTION `f` AS 'a.b' LANGUAGE PYTHON",
        "CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS `f` AS 'a.b'",
        "DROP TEMPORARY SYSTEM FUNCTION IF EXISTS `f`",
        "DROP FUNCTION `c`.`d`.`f`",
    ],
)
def test_statements_of_functions_are_written_as_they_are_read(statement):
    (parsed,) = parse(statement)
    assert render(parsed) == statement
