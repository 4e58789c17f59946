"""Executors call user-defined functions for the rows of a batch."""

from __future__ import annotations

import textwrap
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_catalog.types import parse_type
from millrace_catalog.user_functions.signature import Signature
from millrace_catalog.user_functions.sources import FunctionSource
from millrace_cdc.rows import exact_json
from millrace_cdc.runtime.function_calls import FunctionCalls, RunnableCall, TableCalls


def call(code: str, arguments: list[str], result: str = "STRING", **options: Any) -> RunnableCall:
    code = textwrap.dedent(code)
    source = FunctionSource("eval", code=code, file="<test>")
    is_arrow = Signature(source.load()).is_arrow
    types = tuple(parse_type(each) for each in arguments)
    return RunnableCall(source, tuple(options.items()), is_arrow, types, parse_type(result))


def run(calls: list[RunnableCall], *rows: Any, table: str = "shop.t") -> list[list[list[str | None] | None]]:
    """Return the values of rows before and after changes, whose arguments are given as JSON; None for no row."""
    tables = {"shop.t": TableCalls(tuple(calls), tuple(f"rule {number}" for number in range(len(calls))))}
    images = [[None if each is None else ["first"] for each in pair] for pair in rows]
    arguments = [[None if each is None else exact_json.encode(each).decode() for each in pair] for pair in rows]
    columns = {
        "table": [table] * len(rows),
        "topic": ["orders"] * len(rows),
        "partition": [0] * len(rows),
        "offset": range(len(rows)),
        "images": pa.array(images, pa.list_(pa.list_(pa.string()))),
        "arguments": pa.array(arguments, pa.list_(pa.string())),
    }
    (found,) = FunctionCalls(tables).run([pa.RecordBatch.from_pydict(columns)])
    assert found.schema.names == [name for name in columns if name != "arguments"]
    return found.column("images").to_pylist()


def test_a_function_is_called_row_by_row_with_pythons_values() -> None:
    shown = call(
        """
        def eval(*values):
            return "|".join(f"{type(value).__name__} {value}" for value in values)
        """,
        ["INT", "DECIMAL(20, 2)", "DATE", "TIMESTAMP(6)", "BYTES", "ARRAY<INT>", "ROW<a INT>", "MAP<STRING, INT>"],
    )
    given = {"a0": 1, "a1": 12.5, "a2": "2024-02-29", "a3": "2024-02-29 01:02:03.5", "a4": "aGk=", "a5": [1, None]}
    given |= {"a6": {"a": 1}, "a7": {"k": 2}}
    [[_, after]] = run([shown], (None, {"a0": given}))
    assert after == [
        "first",
        "int 1|Decimal 12.50|date 2024-02-29|datetime 2024-02-29 01:02:03.500000|bytes b'hi'|list [1, None]"
        "|dict {'a': 1}|dict {'k': 2}",
    ]


def test_a_function_is_called_once_for_the_arrays_of_a_batch() -> None:
    joined = call(
        """
        import pyarrow as pa

        def eval(numbers: pa.Int64Array) -> pa.StringArray:
            return pa.array([f"{number} of {len(numbers)}" for number in numbers.to_pylist()])
        """,
        ["BIGINT"],
    )
    found = run([joined], (None, {"a0": {"a0": 5}}), ({"a0": {"a0": 6}}, {"a0": None}), ({"a0": {"a0": None}}, None))
    assert found == [
        [None, ["first", "5 of 3"]],
        [["first", "6 of 3"], ["first", None]],
        [["first", "None of 3"], None],
    ]


@pytest.mark.parametrize(
    ("result", "value", "text"),
    [
        ("BIGINT", "7", "7"),
        ("DECIMAL(38, 2)", "decimal.Decimal('123456789012345678901234567890123456.78')", None),
        ("DOUBLE", "0.1", "0.1"),
        ("BOOLEAN", "True", "true"),
        ("BYTES", "b'hi'", "aGk="),
        ("DATE", "datetime.date(2024, 2, 29)", "2024-02-29"),
        ("TIMESTAMP(6)", "datetime.datetime(2024, 2, 29, 1)", "2024-02-29 01:00:00.000000"),
        ("TIMESTAMP_LTZ(6)", "datetime.datetime(2024, 2, 29, 1, tzinfo=datetime.UTC)", "2024-02-29 01:00:00.000000Z"),
        ("TIME(6)", "datetime.time(1, 2, 3)", "01:02:03.000000"),
        ("ARRAY<DATE>", "[datetime.date(2024, 2, 29), None]", '{"v":["2024-02-29",null]}'),
        ("MAP<STRING, BYTES>", "{'k': b'hi'}", '{"v":{"k":"aGk="}}'),
        ("ROW<at TIMESTAMP(6)>", "{'at': datetime.datetime(2024, 2, 29, 1)}", '{"v":{"at":"2024-02-29 01:00:00"}}'),
        ("STRING", "None", None),
    ],
)
def test_results_are_texts_as_rows_have_them(result: str, value: str, text: str | None) -> None:
    made = call(f"import datetime, decimal\n\ndef eval():\n    return {value}\n", [], result)
    [[_, after]] = run([made], (None, {"a0": {"a0": 0}}))
    assert after[1] == ("123456789012345678901234567890123456.78" if "DECIMAL" in result else text)


def test_options_are_given_to_the_function() -> None:
    tagged = call("def eval(text, *, tag):\n    return tag + text\n", ["STRING"], tag="x-")
    assert run([tagged], (None, {"a0": {"a0": "a"}})) == [[None, ["first", "x-a"]]]


def test_rows_of_other_tables_stay_as_they_are() -> None:
    assert run([call("def eval():\n    1 / 0\n", [])], (None, {}), table="shop.other") == [[None, ["first"]]]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "def eval(n):\n    return 6 // n\n",
            "table 'shop.t': rule 0 fails for the message of topic 'orders', partition 0, offset 1: "
            "ZeroDivisionError: integer division or modulo by zero",
        ),
        (
            "def eval(n):\n    return n or 'none'\n",
            "table 'shop.t': rule 0 fails for the message of topic 'orders', partition 0, offset 1: "
            "expected a result of BIGINT, found 'none'",
        ),
        (
            "import pyarrow as pa\n\ndef eval(n: pa.Array):\n    return n[:1]\n",
            "table 'shop.t': rule 0 fails: TypeError: expected an array of Arrow with 2 values, found 1 values",
        ),
        (
            "import pyarrow as pa\n\ndef eval(n: pa.Array):\n    return 5\n",
            "table 'shop.t': rule 0 fails: TypeError: expected an array of Arrow with 2 values, found int",
        ),
    ],
)
def test_a_failure_names_table_rule_and_message(code: str, message: str) -> None:
    failing = call(code, ["BIGINT"], "BIGINT")
    with pytest.raises(MessageError) as told:
        run([failing], (None, {"a0": {"a0": 3}}), (None, {"a0": {"a0": 0}}))
    assert str(told.value) == message
