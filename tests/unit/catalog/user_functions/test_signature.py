"""Annotations of user-defined functions say which types they take and return."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace_catalog.types import parse_type
from millrace_catalog.user_functions.signature import Signature
from millrace_catalog.user_functions.sources import FunctionError


def test_results_have_the_type_of_the_annotation() -> None:
    results = {
        bool: "BOOLEAN",
        int: "BIGINT",
        float: "DOUBLE",
        str: "STRING",
        bytes: "BYTES",
        datetime.date: "DATE",
        datetime.datetime: "TIMESTAMP(6)",
        datetime.time: "TIME(6)",
        int | None: "BIGINT",
        list[str | None]: "ARRAY<STRING>",
        dict[str, list[int]]: "MAP<STRING NOT NULL, ARRAY<BIGINT>>",
        pa.StringArray: "STRING",
        pa.Int32Array: "INT",
        pa.Date32Array: "DATE",
    }

    def function() -> None: ...

    for annotation, name in results.items():
        function.__annotations__ = {"return": annotation}
        assert str(Signature(function).result) == name


@pytest.mark.parametrize("annotation", [Decimal, pa.Array, Any, None, int | str, list])
def test_an_annotation_that_says_too_little_needs_a_return_type(annotation: Any) -> None:
    def function() -> None: ...

    function.__annotations__ = {"return": annotation}
    with pytest.raises(FunctionError, match="give 'return-type'"):
        _ = Signature(function).result


def test_a_function_without_an_annotation_needs_a_return_type() -> None:
    with pytest.raises(FunctionError, match="its results have no type: annotate the function, or give 'return-type'"):
        _ = Signature(lambda n: n).result


def scale(number: int | None, factor: float = 1.0, *, unit: str, limit: int = 5, strict: bool = False) -> str:
    return f"{number} {factor} {unit} {limit} {strict}"


def longest(texts: pa.StringArray, *others: pa.StringArray) -> pa.StringArray:
    return texts


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (scale, ["INT"], None),
        (scale, ["BIGINT", "DOUBLE"], None),
        (scale, ["NULL", "NULL"], None),
        (longest, ["STRING", "VARCHAR(3)", "STRING"], None),
        (lambda *each: each, ["INT", "ROW<a INT>", "ARRAY<DATE>"], None),
        (scale, [], r"it takes the arguments \(number, factor\), not 0 of them"),
        (scale, ["INT", "DOUBLE", "INT"], r"it takes the arguments \(number, factor\), not 3 of them"),
        (scale, ["STRING"], "its argument number is int, but the expression is STRING"),
        (scale, ["INT", "DECIMAL(3, 1)"], "its argument factor is float, but the expression is DECIMAL"),
        (longest, ["STRING", "INT"], "its argument others is StringArray, but the expression is INT"),
        (
            lambda each: each,
            ["VARIANT"],
            "its argument each is VARIANT, which functions do not take: cast it to STRING",
        ),
    ],
)
def test_arguments_are_checked_by_their_types(function: Any, arguments: list[str], message: str | None) -> None:
    types = tuple(parse_type(each) for each in arguments)
    if message is None:
        Signature(function).check(types)
    else:
        with pytest.raises(FunctionError, match=message):
            Signature(function).check(types)


def test_options_are_the_parameters_behind_the_star() -> None:
    options = Signature(scale).options({"unit": "kg", "limit": "7", "strict": "TRUE"})
    assert options == {"unit": "kg", "limit": 7, "strict": True}
    assert scale(1, **options) == "1 1.0 kg 7 True"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the function needs the option 'unit'"),
        ({"unit": "kg", "size": "1"}, "the function has no option 'size'; it has unit, limit, strict"),
        ({"unit": "kg", "limit": "x"}, "option 'limit': 'x' is no int"),
        ({"unit": "kg", "strict": "x"}, "option 'strict': expected true or false, found 'x'"),
    ],
)
def test_wrong_options_are_told(given: dict[str, str], message: str) -> None:
    with pytest.raises(FunctionError) as told:
        Signature(scale).options(given)
    assert message in str(told.value)


def test_a_function_takes_arrays_in_all_of_its_parameters_or_in_none() -> None:
    def mixed(first: pa.Array, second: int) -> pa.Array:
        return first

    assert Signature(longest).is_arrow
    assert not Signature(scale).is_arrow
    with pytest.raises(FunctionError, match="expected all of its parameters to be arrays of Arrow, or none of them"):
        Signature(mixed)
