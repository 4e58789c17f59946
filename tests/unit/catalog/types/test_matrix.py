"""The least common type of every pair of the reference's types."""

from __future__ import annotations

import itertools
import json

import pytest

from millrace_catalog.types import DataType, ScalarType, least_common_type, parse_type
from support.cases import CASES

pytestmark = pytest.mark.cases

TEXTS = {
    "CHAR": "CHAR(17)",
    "VARCHAR": "VARCHAR(17)",
    "BINARY": "BINARY(17)",
    "VARBINARY": "VARBINARY(17)",
    "ROW": "ROW<a INT, b STRING>",
    "ARRAY": "ARRAY<INT>",
    "MAP": "MAP<STRING, INT>",
}


def rows() -> dict[str, list[str]]:
    return json.loads((CASES / "type-merging" / "matrix.json").read_text())["rows"]


def type_of(name: str) -> DataType:
    return parse_type(TEXTS.get(name, name))


def name_of(type_: DataType) -> str:
    return type_.kind if isinstance(type_, ScalarType) else type(type_).__name__.upper().removesuffix("TYPE")


def test_every_pair_has_the_type_that_the_matrix_says() -> None:
    matrix = rows()
    types = [type_of(name) for name in matrix]
    found = {name: [name_of(least_common_type(type_of(name), other)) for other in types] for name in matrix}
    assert found == matrix


def test_the_matrix_itself_is_that_of_a_join() -> None:
    matrix = rows()
    place = {name: index for index, name in enumerate(matrix)}

    def join(left: str, right: str) -> str:
        return matrix[left][place[right]]

    assert all(join(name, name) == name for name in matrix)
    assert all(join(left, right) == join(right, left) for left, right in itertools.product(matrix, repeat=2))
    assert all(
        join(join(first, second), third) == join(first, join(second, third))
        for first, second, third in itertools.product(matrix, repeat=3)
    )


def test_what_the_matrix_does_not_name_goes_with_itself_only() -> None:
    matrix = rows()
    beside = ["BOOLEAN", "DATE"]
    assert not set(beside) & set(matrix)
    for name in beside:
        assert least_common_type(type_of(name), type_of(name)) == type_of(name)
        others = [type_of(other) for other in [*matrix, *beside] if other != name]
        assert {str(least_common_type(type_of(name), other)) for other in others} == {"STRING"}
