"""Aggregates as values that can be added to and taken from: what Spark sums, or a stage of Python keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from millrace_catalog.expressions.value_types import kind_of
from millrace_sql.planner.argument_types import ArgumentType, of_kind, type_of
from millrace_sql.planner.ordered_values import ORDERED_KINDS, AggregateCall, OrderedKind, ordered_value
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Relation, parse_expression, spark_sql

Kind = Literal["count", "sum", "min", "max", "distinct", "spark"] | OrderedKind

_ADVICE = (
    "use COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT), LISTAGG, ARRAY_AGG, FIRST_VALUE or LAST_VALUE, or run the query "
    "as a batch"
)


@dataclass(frozen=True)
class Accumulator:
    """A value of a group.

    Attributes:
        kind: How it is kept: `count` counts rows whose argument is not NULL, `sum` adds arguments; `min`, `max` and
            `distinct` need all values, `ORDERED_KINDS` their order; `spark` is an aggregate of Spark over rows that
            are only inserted.
        argument: The expression that it aggregates, its FILTER included; of `spark` the whole call.
    """

    kind: Kind
    argument: str

    def sql(self, sign: str) -> str:
        """Return its aggregate in Spark.

        Args:
            sign: The expression of 1 for an added row and -1 for one that is taken away.
        """
        if self.kind == "spark":
            return self.argument
        if self.kind == "count":
            return f"COALESCE(SUM(CASE WHEN ({self.argument}) IS NOT NULL THEN {sign} END), 0L)"
        return f"SUM(({self.argument}) * {sign})"


class AggregateRewriter:
    """Replace the aggregates and groups in a query's expressions by columns of the aggregated rows.

    Args:
        text: The query, for errors.
        relation: What it aggregates.
        groups: The expressions of GROUP BY.
        keeps_results: Whether old results are returned too, which Spark's own aggregates do not know.
        keeps_order: Whether an aggregate depends on the order of rows, which Spark's own aggregates do not keep.

    Attributes:
        accumulators: What the rewritten expressions read, as ``__value0`` and so on.
    """

    def __init__(
        self,
        text: QueryText,
        relation: Relation,
        groups: list[exp.Expr],
        *,
        keeps_results: bool = False,
        keeps_order: bool = False,
    ) -> None:
        self._text = text
        self._relation = relation
        self._groups = groups
        self._keeps_results = keeps_results
        self._keeps_order = keeps_order
        self.accumulators: list[Accumulator] = []

    @property
    def needs_state(self) -> bool:
        """True when Python keeps what Spark's own aggregates do not: all values of a group, or old results."""
        return self._keeps_results or any(
            accumulator.kind in {"min", "max", "distinct", *ORDERED_KINDS} for accumulator in self.accumulators
        )

    def rewrite(self, expression: exp.Expr) -> str:
        """Return an expression over the aggregated rows.

        Raises:
            SqlError: An aggregate cannot be taken back.
        """
        return spark_sql(self._replaced(expression.copy()))

    def _replaced(self, node: exp.Expr) -> exp.Expr:

        for number, group in enumerate(self._groups):
            if same(node, group):
                return exp.column(f"__group{number}")
        call = AggregateCall.of(node)
        if isinstance(call.function, exp.AggFunc):
            return exp.Paren(this=parse_expression(self._aggregate(node, call)))
        if isinstance(node, exp.Column) and node.find_ancestor(exp.Lambda) is None:
            message = f"{spark_sql(node)} is neither in GROUP BY nor within an aggregate that millrace knows: {_ADVICE}"
            raise self._text.error(message, node)
        for child in list(node.iter_expressions()):
            replacement = self._replaced(child)
            if replacement is not child:
                child.replace(replacement)
        return node

    def _column(self, kind: Kind, argument: str) -> str:
        accumulator = Accumulator(kind, argument)
        if accumulator not in self.accumulators:
            self.accumulators.append(accumulator)
        return f"__value{self.accumulators.index(accumulator)}"

    def _aggregate(self, node: exp.Expr, whole: AggregateCall) -> str:

        call, condition = whole.function, whole.condition
        if whole.is_ordered:
            value = ordered_value(whole, self._column, is_changelog=self._relation.is_changelog)
            return self._refuse(call) if value is None else value
        distinct = call.this if isinstance(call.this, exp.Distinct) else None
        if not (self._relation.is_changelog or self._keeps_results or self._keeps_order):
            return self._of_spark(node, call, distinct)
        if isinstance(call, exp.Count):
            return self._count(call, distinct, condition)
        if distinct is not None or not isinstance(call, exp.Sum | exp.Avg | exp.Min | exp.Max) or call.expressions:
            return self._refuse(call)
        argument = _filtered(spark_sql(call.this), condition)
        if isinstance(call, exp.Min | exp.Max):
            return self._column("min" if isinstance(call, exp.Min) else "max", argument)
        type_ = self._type_of(call)
        total, count = self._sum(argument, type_), self._column("count", argument)
        if isinstance(call, exp.Sum):
            return f"CASE WHEN {count} > 0 THEN {total} END"
        return f"CASE WHEN {count} > 0 THEN {self._average(call, total, count, type_)} END"

    def _of_spark(self, node: exp.Expr, call: exp.Expr, distinct: exp.Distinct | None) -> str:

        if distinct is None:
            return self._column("spark", spark_sql(node))
        return self._column("spark", set_size(node)) if isinstance(call, exp.Count) else self._refuse(call)

    def _refuse(self, call: exp.Expr) -> str:
        origin = self._relation.origin
        reason = (
            f"over the changes of {origin} cannot be computed from what is kept"
            if origin
            else "has no old results, which the table needs"
            if self._keeps_results
            else "cannot be computed beside an aggregate of rows in their order"
            if self._keeps_order
            else "is not one of Spark's for streams"
        )
        raise self._text.error(f"{spark_sql(call)} {reason}: {_ADVICE}", call)

    def _count(self, call: exp.Count, distinct: exp.Distinct | None, condition: str) -> str:

        values = distinct.expressions if distinct is not None else [call.this, *call.expressions]
        conditions = [f"({spark_sql(value)}) IS NOT NULL" for value in values if len(values) > 1]
        conditions += [f"({condition})"] if condition else []
        value = "1" if isinstance(values[0], exp.Star) else spark_sql(values[0])
        if distinct is None:
            value = value if len(values) == 1 else "1"
            return self._column("count", _filtered(value, " AND ".join(conditions)))
        if len(values) > 1:
            value = (
                f"TO_JSON(STRUCT({', '.join(f'{spark_sql(item)} AS c{number}' for number, item in enumerate(values))}))"
            )
        return f"COALESCE({self._column('distinct', _filtered(value, ' AND '.join(conditions)))}, 0L)"

    def _type_of(self, call: exp.Expr) -> ArgumentType:

        type_ = type_of(call.this, self._relation.types)
        if not type_.is_known and self._text.type_of is not None:
            type_ = of_kind(kind_of(self._text.type_of(spark_sql(call.this))))
        if not type_.is_known and not type_.is_exact:
            # Integers would go through floating-point numbers, which do not hold them all
            name, example = call.sql_name(), "BIGINT" if isinstance(call, exp.Sum) else "DOUBLE"
            argument = spark_sql(call.this)
            message = (
                f"the type of {argument} is not known before the query runs: write {name}(CAST(... AS {example})), or "
                "another type"
            )
            raise self._text.error(message, call)
        return type_

    def _sum(self, argument: str, type_: ArgumentType) -> str:
        """Return a sum; of floating-point numbers, what is not finite is counted, for it could not be taken away."""
        if type_.is_exact:
            return self._column("sum", argument)
        double = f"CAST({argument} AS DOUBLE)"
        infinite = "DOUBLE('Infinity')"
        counts = [
            self._column("count", f"CASE WHEN {condition} THEN 1 END")
            for condition in (f"ISNAN({double})", f"{double} = {infinite}", f"{double} = -{infinite}")
        ]
        finite = self._column(
            "sum", f"CASE WHEN NOT ISNAN({double}) AND ABS({double}) < {infinite} THEN {argument} END"
        )
        nan, positive, negative = (f"{column} > 0" for column in counts)
        return (
            f"CASE WHEN {nan} OR ({positive} AND {negative}) THEN DOUBLE('NaN') WHEN {positive} THEN {infinite} "
            f"WHEN {negative} THEN -{infinite} ELSE COALESCE({finite}, 0) END"
        )

    def _average(self, call: exp.Expr, total: str, count: str, type_: ArgumentType) -> str:
        if type_.decimal is None and not type_.is_known:
            message = (
                f"the type of {spark_sql(call.this)} is not known before the query runs: write AVG(CAST(... AS DOUBLE))"
            )
            raise self._text.error(message, call)
        if type_.decimal is None:
            return f"CAST(({total}) AS DOUBLE) / {count}"
        precision, scale = type_.decimal
        if precision > 28:
            raise self._text.error(
                f"AVG of DECIMAL({precision},{scale}) is not exact: cast it to DECIMAL(28,{min(scale, 18)})", call
            )
        return f"CAST(({total}) / {count} AS DECIMAL({min(precision + 4, 38)}, {min(scale + 4, 38)}))"


def same(one: exp.Expr, other: exp.Expr) -> bool:
    """Return whether two expressions are the same but for the table that one of them names."""
    if isinstance(one, exp.Column) and isinstance(other, exp.Column):
        tables = {one.table.lower(), other.table.lower()} - {""}
        return one.name.lower() == other.name.lower() and len(tables) < 2
    return one == other


def _filtered(value: str, condition: str) -> str:
    return f"CASE WHEN {condition} THEN {value} END" if condition else value


def set_size(call: exp.Expr) -> str:
    """Return COUNT(DISTINCT ...), with its FILTER, as the size of a set."""
    count = call.this if isinstance(call, exp.Filter) else call
    values = count.this.expressions
    conditions = [f"({spark_sql(value)}) IS NOT NULL" for value in values] if len(values) > 1 else []
    if isinstance(call, exp.Filter):
        conditions.append(f"({spark_sql(call.expression.this)})")
    value = spark_sql(values[0]) if len(values) == 1 else f"STRUCT({', '.join(spark_sql(value) for value in values)})"
    filtered = f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value
    return f"CAST(SIZE(COLLECT_SET({filtered})) AS BIGINT)"
