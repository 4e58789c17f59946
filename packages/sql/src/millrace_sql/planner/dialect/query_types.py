"""Types of a query's expressions, as far as they follow from the columns of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.value_types import common_type, is_integer, number_type, operator_type
from millrace_catalog.types import BIGINT, INT, STRING, ArrayType, Column, DataType, MapType, RowType, parse_type

_OF_THEIR_ARGUMENT = """
Abs AnyValue Avg Ceil Filter First FirstValue Floor IgnoreNulls Last LastValue Max Min Nullif Paren Round Window
"""
_INTEGERS = """
Count CountIf DateDiff Day DayOfMonth DayOfWeek DayOfYear Extract Hour IntDiv Length Minute Month Quarter Second
TimestampDiff Week WeekOfYear Year
"""
_TEXTS = "Concat ConcatWs Lower Replace Substring Trim Upper"


class QueryTypes:
    """Types of names, whatever their place in the query: a name that stands for two types has none.

    Args:
        tree: The query.
        columns: Returns the types of a table's columns by their names in lower case, each None where it is not known.
        functions: The types of user-defined functions' results, by the names under which Spark knows them.
    """

    def __init__(
        self,
        tree: exp.Expr,
        columns: Callable[[exp.Table], Mapping[str, DataType | None]],
        functions: Mapping[str, DataType] | None = None,
    ) -> None:
        self._functions = functions or {}
        self._definitions: dict[str, list[DataType | Any | None]] = {}
        self._relations: set[str] = set()
        self._resolving: list[str] = []
        self._collect(tree, columns)

    def type_of(self, text: str) -> DataType | None:
        """Return the type of an expression of the query, in Spark's spelling; None where it is not known."""
        try:
            return self._type(sqlglot.parse_one(text, dialect="spark"))
        except SqlglotError:
            return None

    def names(self) -> dict[str, DataType | None]:
        """Return the types of all names that the query knows."""
        return {name: self._column(exp.column(name)) for name in self._definitions}

    def _collect(self, tree: exp.Expr, columns: Callable[[exp.Table], Mapping[str, DataType | None]]) -> None:

        for table in tree.find_all(exp.Table):
            self._relations.add(table.alias_or_name.lower())
            for name, type_ in columns(table).items():
                self._define(name, type_)
        for node in tree.find_all(exp.Subquery, exp.CTE):
            self._relations.add(node.alias.lower())
        for alias in tree.find_all(exp.TableAlias):
            for column in () if isinstance(alias.parent, exp.Lateral) else alias.columns:
                self._define(column.name, None)
        for item in tree.find_all(exp.Alias):
            self._define(item.alias, item.this)
        for lateral in tree.find_all(exp.Lateral):
            self._collect_lateral(lateral)

    def _define(self, name: str, definition: DataType | Any | None) -> None:
        self._definitions.setdefault(name.lower(), []).append(definition)

    def _collect_lateral(self, lateral: exp.Lateral) -> None:
        self._relations.add(lateral.alias.lower())
        for name, type_ in self._made_columns(lateral):
            self._define(name, type_)

    def _made_columns(self, lateral: exp.Lateral) -> list[tuple[str, DataType | None]]:
        """Return the columns that UNNEST makes of an array or a map, with their types."""
        type_ = self._type(lateral.this.this)
        columns: list[tuple[str, DataType | None]] = []
        if isinstance(type_, ArrayType):
            columns = [("EXPR$0", type_.element)]
            if isinstance(type_.element, RowType):
                columns = [(field.name, field.type) for field in type_.element.fields]
        elif isinstance(type_, MapType):
            columns = [("EXPR$0", type_.key), ("EXPR$1", type_.value)]
        names = [column.name for column in lateral.args["alias"].columns]
        if not names:
            return columns
        types = [*(column_type for _, column_type in columns), BIGINT][: len(names)]
        return list(zip(names, [*types, *[None] * (len(names) - len(types))], strict=True))

    def _column(self, node: Any) -> DataType | None:
        first, *fields = self._parts(node)
        type_ = self._named(first)
        for name in fields:
            types = (
                [field.type for field in type_.fields if field.name.lower() == name]
                if isinstance(type_, RowType)
                else []
            )
            type_ = types[0] if types else None
        return type_

    def _parts(self, node: Any) -> list[str]:
        """Return the names of a column and of fields in it, in lower case, without the relation before them."""
        parts = [part.name.lower() for part in node.parts]
        return parts[1:] if len(parts) > 1 and parts[0] in self._relations else parts

    def _dot(self, node: Any) -> DataType | None:
        type_ = self._type(node.this)
        fields = type_.fields if isinstance(type_, RowType) else ()
        name = node.expression.name.lower()
        return next((field.type for field in fields if field.name.lower() == name), None)

    def _named(self, name: str) -> DataType | None:

        definitions = self._definitions.get(name, [])
        if name in self._resolving:  # an expression that has the name of a column that it reads
            definitions = [definition for definition in definitions if not isinstance(definition, exp.Expression)]
        self._resolving.append(name)
        types = [
            self._type(definition) if isinstance(definition, exp.Expression) else definition
            for definition in definitions
        ]
        self._resolving.pop()
        return common_type(types) if types else None

    def _type(self, node: Any) -> DataType | None:
        name = type(node).__name__
        special = getattr(self, f"_{name.lower()}", None)
        if special is not None:
            return special(node)
        if name in _INTEGERS.split():
            return INT if name == "Length" else BIGINT
        if name in _OF_THEIR_ARGUMENT.split():
            return self._type(node.this)
        if name in _TEXTS.split():
            return STRING
        operands = (node.args.get("this"), node.args.get("expression"))
        return operator_type(node, [self._type(operand) for operand in operands if hasattr(operand, "find_all")])

    def _literal(self, node: Any) -> DataType | None:
        return STRING if node.is_string else number_type(node.name)

    def _cast(self, node: Any) -> DataType | None:
        return _spark_type(node.to)

    _trycast = _cast

    def _sum(self, node: Any) -> DataType | None:
        type_ = self._type(node.this)
        return BIGINT if is_integer(type_) else type_

    def _distinct(self, node: Any) -> DataType | None:
        return self._type(node.expressions[0])

    def _coalesce(self, node: Any) -> DataType | None:
        return common_type([self._type(argument) for argument in (node.this, *node.expressions)])

    def _case(self, node: Any) -> DataType | None:
        branches = [branch.args["true"] for branch in node.args.get("ifs") or [node]]
        others = [other for other in (node.args.get("default"), node.args.get("false")) if other is not None]
        return common_type([self._type(result) for result in (*branches, *others)])

    _if = _case

    def _array(self, node: Any) -> DataType | None:
        element = common_type([self._type(expression) for expression in node.expressions])
        return None if element is None else ArrayType(element)

    def _struct(self, node: Any) -> DataType | None:
        named = [field for field in node.expressions if type(field).__name__ == "PropertyEQ"]
        fields = [(field.this.name, self._type(field.expression)) for field in named]
        return _row(fields) if len(fields) == len(node.expressions) else None

    def _bracket(self, node: Any) -> DataType | None:
        return _element(self._type(node.this))

    def _map(self, node: Any) -> DataType | None:
        keys, values = (node.args[name].expressions for name in ("keys", "values"))
        key, value = (common_type([self._type(expression) for expression in items]) for items in (keys, values))
        return None if key is None or value is None else MapType(key, value)

    _varmap = _map

    def _anonymous(self, node: Any) -> DataType | None:
        if node.name in self._functions:
            return self._functions[node.name]
        if node.name.lower() in {"get", "try_element_at"}:
            return _element(self._type(node.expressions[0]))
        function = FUNCTIONS.get({"try_to_date": "TO_DATE"}.get(node.name.lower(), node.name.upper()))
        return None if function is None or callable(function.result) else function.result


def _element(type_: DataType | None) -> DataType | None:
    if isinstance(type_, ArrayType):
        return type_.element
    return type_.value if isinstance(type_, MapType) else None


def _spark_type(node: Any) -> DataType | None:
    """Return the type that a CAST names; None where it is not known here."""
    parts = [_spark_type(getattr(part, "kind", None) or part) for part in node.expressions if _is_type(part)]
    if node.this.name == "STRUCT":
        fields = [(field.name, type_) for field, type_ in zip(node.expressions, parts, strict=False)]
        return _row(fields) if len(fields) == len(node.expressions) else None
    if node.this.name == "ARRAY" and parts:
        return None if parts[0] is None else ArrayType(parts[0])
    if node.this.name == "MAP" and len(parts) == 2:
        return None if parts[0] is None or parts[1] is None else MapType(parts[0], parts[1])
    text = node.sql(dialect="spark").upper()
    try:
        return parse_type({"TIMESTAMP": "TIMESTAMP_LTZ(6)", "TIMESTAMP_NTZ": "TIMESTAMP(6)"}.get(text, text))
    except ValueError:
        return None


def _is_type(node: Any) -> bool:

    return isinstance(node, exp.DataType | exp.ColumnDef)


def _row(fields: list[tuple[str, DataType | None]]) -> DataType | None:
    columns = tuple(Column(name, type_) for name, type_ in fields if type_ is not None)
    try:
        return RowType(columns) if len(columns) == len(fields) else None
    except ValueError:  # two fields have one name
        return None
