"""Functions of arrays, maps, rows, variants and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.expressions.function import (
    ANY_NUMBER,
    Function,
    Sql,
    literal_text,
    same,
    text_literal,
)
from millrace_catalog.expressions.value_types import common_type, kind_of
from millrace_catalog.types import BIGINT, BOOLEAN, INT, VARIANT, ArrayType, Column, DataType, MapType, RowType

_ELEMENT = "__element"
"""The name of an element in a lambda, which no column has."""


def _array_type(arguments: Sequence[Sql]) -> DataType | None:
    element = common_type([argument.type for argument in arguments])
    return None if element is None else ArrayType(element)


def _map(arguments: Sequence[Sql]) -> str:
    if len(arguments) % 2:
        raise ValueError(f"MAP takes pairs of keys and values, not {len(arguments)} values")
    return f"map({', '.join(arguments)})"


def _map_type(arguments: Sequence[Sql]) -> DataType | None:
    key, value = (common_type([argument.type for argument in arguments[side::2]]) for side in (0, 1))
    return None if key is None or value is None else MapType(key, value)


def _row() -> Function:
    def named(prefix: str, arguments: Sequence[Sql]) -> str:
        fields = [f"'{prefix}{number}', {argument}" for number, argument in enumerate(arguments)]
        return f"named_struct({', '.join(fields)})"

    def result(arguments: Sequence[Sql]) -> DataType | None:
        types = [argument.type for argument in arguments]
        if any(type_ is None for type_ in types):
            return None
        return RowType(tuple(Column(f"f{number}", type_) for number, type_ in enumerate(types) if type_ is not None))

    return Function(
        1,
        ANY_NUMBER,
        lambda arguments: named("EXPR$", arguments),
        result,
        "respelt",
        in_pipelines=lambda arguments: named("f", arguments),
    )


def _array_contains(arguments: Sequence[Sql]) -> str:
    """Return a call that also finds NULL, and is false where NULL is among other values."""
    array, value = arguments
    return f"if(({array}) IS NULL, NULL, exists({array}, {_ELEMENT} -> {_ELEMENT} <=> ({value})))"


def _element(arguments: Sequence[Sql]) -> str:
    (array,) = arguments
    return (
        f"CASE WHEN cardinality({array}) > 1 THEN raise_error('ELEMENT: the array has more than one element') "
        f"ELSE get({array}, 0) END"
    )


def _element_type(arguments: Sequence[Sql]) -> DataType | None:
    array = arguments[0].type
    return array.element if isinstance(array, ArrayType) else None


def _parse_json(name: str) -> Function:
    def render(arguments: Sequence[Sql]) -> str:
        if len(arguments) == 2 and arguments[1].upper() != "FALSE":
            raise ValueError(
                f"{name} refuses objects that have a name twice: leave the second argument out, or set "
                "spark.sql.variant.allowDuplicateKeys to true"
            )
        text = arguments[0]
        text = text if kind_of(text.type) in {"STRING", "CHAR", "VARCHAR", ""} else Sql(f"CAST({text} AS STRING)")
        # An empty text is NULL
        return f"{name.lower()}(nullif({text}, ''))"

    return Function(1, 2, render, VARIANT)


def subscript(value: Sql, key: Sql) -> Sql:
    """Return an element of an array, counted from 1, a value of a map, a field of a row, or a part of a variant.

    It is NULL where there is none.

    Raises:
        ValueError: A row or a variant has no constant key, or a row no field of the number.
    """
    if isinstance(value.type, RowType):
        number = int(key) if key.isdigit() else 0
        if not 1 <= number <= len(value.type.fields):
            raise ValueError(f"a row is read by the number of a field, from 1 to {len(value.type.fields)}, not {key}")
        field = value.type.fields[number - 1]
        name = field.name.replace("`", "``")
        return Sql(f"({value}).`{name}`", field.type)
    if kind_of(value.type) == "VARIANT":
        return Sql(f"try_variant_get({value}, {_variant_path(key)}, 'variant')", VARIANT)
    if isinstance(value.type, ArrayType):
        place = str(int(key) - 1) if key.isdigit() else f"({key}) - 1"
        return Sql(f"get({value}, {place})", value.type.element)
    result = value.type.value if isinstance(value.type, MapType) else None
    return Sql(f"try_element_at({value}, {key})", result)


def _variant_path(key: Sql) -> str:
    name = literal_text(key)
    if name is not None:
        quote = '"' if '"' not in name else "'"
        return text_literal(f"$[{quote}{name}{quote}]")
    if key.isdigit() and int(key):
        return f"'$[{int(key) - 1}]'"
    raise ValueError(f"a variant is read by a text or by a number from 1, not {key}")


NESTED: dict[str, Function] = {
    "ARRAY": same("array", 1, ANY_NUMBER, _array_type),
    "ARRAY_CONTAINS": Function(2, 2, _array_contains, BOOLEAN, "different"),
    "ARRAY_POSITION": same("array_position", 2, 2, BIGINT),
    "CARDINALITY": same("cardinality", 1, 1, INT),
    "ELEMENT": Function(1, 1, _element, _element_type, "respelt"),
    "MAP": Function(2, ANY_NUMBER, _map, _map_type),
    "PARSE_JSON": _parse_json("PARSE_JSON"),
    "ROW": _row(),
    "TRY_PARSE_JSON": _parse_json("TRY_PARSE_JSON"),
}
