"""Write the tree of an expression as Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millrace_catalog.expressions.function import Sql, literal_text, text_literal
from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.functions.nested import subscript
from millrace_catalog.expressions.functions.times import check_unit
from millrace_catalog.expressions.patterns import like_pattern, similar_pattern
from millrace_catalog.expressions.scanner import Call, ExpressionError, Prepared
from millrace_catalog.expressions.value_types import (
    arithmetic_type,
    common_type,
    is_integer,
    kind_of,
    number_type,
    operator_type,
)
from millrace_catalog.types import BOOLEAN, DATE, FLOAT, STRING, Column, DataType, Schema, parse_type, timestamp
from millrace_catalog.types.spark_ddl import spark_ddl

DIALECT = "spark"
"""The dialect of sqlglot that expressions are read in and written for."""

BORDER = "\x01"
"""The character around the names of columns in what is written."""

_SHORT_TYPES = {"BYTE": "TINYINT", "SHORT": "SMALLINT", "LONG": "BIGINT", "INTEGER": "INT", "VARCHAR": "STRING"}


def divide(left: Sql, right: Sql) -> Sql | None:
    """Return a quotient that Spark computes otherwise: of integers, without its fraction, and of FLOATs.

    None stands for Spark's own.
    """
    result = arithmetic_type([left.type, right.type])
    if is_integer(left.type) and is_integer(right.type):
        return Sql(f"CAST({left} DIV {right} AS {kind_of(result)})", result)
    return Sql(f"CAST({left} / {right} AS FLOAT)", FLOAT) if result == FLOAT else None


class Translator:
    """Write expressions of a pipeline.

    Args:
        prepared: What the tree was parsed from.
        types: The types of columns that are known.
        offset_of: Returns the place of a node in the user's text.
    """

    def __init__(
        self, prepared: Prepared, types: Mapping[str, DataType], offset_of: Callable[[Any, Prepared], int]
    ) -> None:
        self._prepared = prepared
        self._types = types
        self._offset_of = offset_of

    def write(self, node: Any) -> Sql:
        """Return an expression with `BORDER` around the names of columns.

        Raises:
            ExpressionError: A call is wrong, or Spark has no expression for it.
        """
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            return self._operator(node)
        try:
            return write(node)
        except ExpressionError:
            raise
        except ValueError as error:
            call = self._prepared.calls.get(node.name)
            raise ExpressionError(str(error), call.offset if call else self._offset_of(node, self._prepared)) from error

    def _operator(self, node: Any) -> Sql:
        """Write an operator that Spark has, with its operands."""
        from sqlglot import exp

        operands: list[Sql] = []
        copy = node.copy()
        for original, child in zip(list(node.iter_expressions()), list(copy.iter_expressions()), strict=True):
            if not isinstance(original, exp.Var | exp.Identifier | exp.IntervalSpan):
                operands.append(self.write(original))
                child.replace(exp.Var(this=str(operands[-1])))
        type_ = operator_type(node, [operand.type for operand in operands])
        return Sql(copy.sql(dialect=DIALECT), type_)

    def _column(self, node: Any) -> Sql:
        return Sql(f"{BORDER}{node.name}{BORDER}", self._types.get(node.name))

    def _literal(self, node: Any) -> Sql:
        if not node.is_string:
            return Sql(node.sql(dialect=DIALECT), number_type(node.name))
        return Sql(text_literal(self._text(node)).replace(BORDER, "\\u0001"), STRING)

    def _text(self, node: Any) -> str:
        return self._prepared.texts[int(node.this)]

    def _anonymous(self, node: Any) -> Sql:
        call = self._prepared.calls[node.name]
        name = call.name.upper()
        if call.type is not None:
            return self._cast(node.expressions[0], call)
        function = FUNCTIONS.get(name)
        if function is None:
            arguments = [self.write(argument) for argument in node.expressions]
            return Sql(f"{name.lower()}({', '.join(arguments)})")
        function.check(name, len(node.expressions))
        arguments = [
            self._unit(name, argument) if function.takes_unit and not index else self.write(argument)
            for index, argument in enumerate(node.expressions)
        ]
        return function.call(name, arguments, in_pipeline=True)

    def _unit(self, function: str, node: Any) -> Sql:
        from sqlglot import exp

        written = self._text(node) if isinstance(node, exp.Literal) and node.is_string else node.name
        if function == "EXTRACT":
            return Sql(written)
        try:
            return Sql(check_unit(written))
        except ValueError as error:
            raise ExpressionError(str(error), self._offset_of(node, self._prepared)) from None

    def _cast(self, node: Any, call: Call | None = None) -> Sql:
        """Write a CAST, or a text with its type before it, such as ``DATE '2024-02-29'``."""
        if call is None:
            # sqlglot's TIMESTAMPTZ is Spark's TIMESTAMP
            type_: DataType = timestamp(6) if node.to.this.value.startswith("TIMESTAMP") else DATE
            return Sql(f"CAST({self.write(node.this)} AS {_spark_type(type_)})", type_)
        type_ = _type(call)
        return Sql(f"{call.name}({self.write(node)} AS {_spark_type(type_)})", type_)

    def _interval(self, node: Any) -> Sql:
        return Sql(f"INTERVAL {self.write(node.this)} {node.args['unit'].sql(dialect=DIALECT)}")

    def _bracket(self, node: Any) -> Sql:
        value, key = self.write(node.this), self.write(node.expressions[0])
        return subscript(value, key)

    def _div(self, node: Any) -> Sql:
        left, right = self.write(node.this), self.write(node.expression)
        return divide(left, right) or Sql(f"{left} / {right}", arithmetic_type([left.type, right.type]))

    def _arithmetic(self, node: Any) -> Sql:
        from sqlglot import exp

        if isinstance(node.this, exp.Interval) or isinstance(node.expression, exp.Interval):
            return self._moved_time(node)
        sign = {"Add": "+", "Sub": "-", "Mul": "*", "Mod": "%"}[type(node).__name__]
        left, right = self.write(node.this), self.write(node.expression)
        type_ = arithmetic_type([left.type, right.type])
        if type_ == FLOAT:
            # Spark would compute with DOUBLE, whose digits are others
            left, right = (Sql(f"CAST({side} AS FLOAT)") if is_integer(side.type) else side for side in (left, right))
        return Sql(f"{left} {sign} {right}", type_)

    _add = _sub = _mul = _mod = _arithmetic

    def _moved_time(self, node: Any) -> Sql:
        """Write a time plus or minus an interval; a DATE stays one."""
        moved = self._operator(node)
        return Sql(f"CAST({moved} AS DATE)", moved.type) if kind_of(moved.type) == "DATE" else moved

    def _case(self, node: Any) -> Sql:
        value = "" if node.this is None else f" {self.write(node.this)}"
        branches = [(self.write(branch.this), self.write(branch.args["true"])) for branch in node.args["ifs"]]
        results = [result for _, result in branches]
        text = "".join(f" WHEN {condition} THEN {result}" for condition, result in branches)
        default = node.args.get("default")
        if default is not None:
            results.append(self.write(default))
            text += f" ELSE {results[-1]}"
        return Sql(f"CASE{value}{text} END", common_type([result.type for result in results]))

    def _like(self, node: Any) -> Sql:
        value, pattern = self.write(node.this), self.write(node.expression)
        text = literal_text(pattern)
        return self._matched(value, "LIKE", pattern if text is None else text_literal(like_pattern(text)))

    def _similarto(self, node: Any, escape: str | None = None) -> Sql:
        value, pattern = self.write(node.this), literal_text(self.write(node.expression))
        if pattern is None:
            raise ValueError("SIMILAR TO takes a pattern that is a text; write REGEXP_LIKE(x, pattern) for another")
        return self._matched(value, "RLIKE", text_literal(similar_pattern(pattern, escape)))

    def _escape(self, node: Any) -> Sql:
        inner, escape = node.this, self.write(node.expression)
        if type(inner).__name__ == "SimilarTo":
            return self._similarto(inner, literal_text(escape))
        value, pattern = self.write(inner.this), self.write(inner.expression)
        return self._matched(value, "LIKE", f"{pattern} ESCAPE {escape}")

    def _matched(self, value: Sql, operator: str, pattern: str) -> Sql:
        return Sql(f"{value} {operator} {pattern}", BOOLEAN)


def _spark_type(type_: DataType) -> str:
    return spark_ddl(Schema((Column("c", type_),))).partition(" ")[2]


def _type(call: Call) -> DataType:
    text = call.type or ""
    try:
        return parse_type(_SHORT_TYPES.get(text.upper(), text))
    except ValueError as error:
        raise ExpressionError(f"type of {call.name}: {error}", call.offset) from None
