"""Values that another program has printed are read by their types, and compared by what they mean."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from millrace_catalog.types import parse_type
from support.golden_differences import KINDS, documented_kinds, item_name
from support.golden_values import comparable, golden_value, split_list


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("STRING", "null", None),
        ("STRING", "a [b]", "a [b]"),
        ("BOOLEAN", "true", True),
        ("DECIMAL(3, 1)", "12.5", Decimal("12.5")),
        ("ARRAY<INT>", "[1, null]", [Decimal(1), None]),
        ("ARRAY<STRING>", "[]", []),
        ("MAP<INT, ARRAY<STRING>>", "{1 -> [a, b], 2 -> []}", {"1": ["a", "b"], "2": []}),
        ("ROW<name STRING, n INT>", "{name: STRING -> Al, n: INT -> 5}", {"name": "Al", "n": Decimal(5)}),
        ("VARIANT", '{"k":[1,"x, y"]}', {"k": [1, "x, y"]}),
        ("TIMESTAMP_LTZ(3)", "2024-02-29T01:02:03", "2024-02-29T01:02:03Z"),
    ],
)
def test_a_printed_value_is_read_by_its_type(type_: str, text: str, value: Any) -> None:
    assert golden_value(parse_type(type_), text) == value


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (("INT", Decimal(8)), ("DOUBLE", 8.0)),
        (("DECIMAL(5, 2)", Decimal("1.50")), ("DECIMAL(3, 1)", Decimal("1.5"))),
        (("TIMESTAMP(3)", "2024-02-29T01:02"), ("TIMESTAMP(6)", "2024-02-29 01:02:00.000")),
        (("TIMESTAMP_TZ(3)", "2024-02-29T01:02:03.5+01:00"), ("TIMESTAMP_LTZ(3)", "2024-02-29 00:02:03.500Z")),
        (("TIME(0)", "01:02"), ("TIME(6)", "01:02:00.000")),
        (("MAP<INT, INT>", {"1": 2}), ("MAP<BIGINT, DOUBLE>", {"1": 2.0})),
        (("ROW<a TIME(0)>", {"a": "01:02"}), ("ROW<a TIME(3)>", {"a": "01:02:00"})),
    ],
)
def test_values_of_the_same_meaning_are_equal(there: tuple[str, Any], here: tuple[str, Any]) -> None:
    assert comparable(parse_type(there[0]), there[1]) == comparable(parse_type(here[0]), here[1])


def test_values_of_other_meanings_are_not_equal() -> None:
    assert comparable(parse_type("STRING"), "1") != comparable(parse_type("INT"), 1)
    times = [comparable(parse_type("TIMESTAMP(9)"), f"2024-02-29 01:02:03.12345678{digit}") for digit in (1, 2)]
    assert times[0] != times[1]


def test_a_list_is_split_between_brackets_and_quotes() -> None:
    assert split_list('a, [b, c], {"d, e": (f, g)}, "h, i"') == ["a", "[b, c]", '{"d, e": (f, g)}', '"h, i"']
    assert split_list("f(a, 'b,'), `c,` AS d", quotes="'`", separator=",") == ["f(a, 'b,')", "`c,` AS d"]


def test_the_name_of_an_item_is_its_last_word() -> None:
    assert [item_name(each) for each in ("id_", "CAST(a AS INT) AS b", "1 as `c`")] == ["id_", "b", "c"]


def test_each_known_kind_of_difference_stands_in_the_docs_with_its_reason() -> None:
    documented = documented_kinds()
    assert set(KINDS) <= set(documented)
    assert all(reason.strip() for reason in documented.values())
