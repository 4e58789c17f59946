"""Transforms of tables: the columns, rows and keys that the rules of a pipeline make of a table's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from millrace.options.suggestions import closest
from millrace_catalog.expressions.parsing import STAR, ParsedExpression, join_sql, parse_projection
from millrace_catalog.expressions.scanner import ExpressionError
from millrace_catalog.types import STRING, DataType
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.functions.calls import is_call
from millrace_cdc.functions.user_function import UserFunction, by_name
from millrace_cdc.routing.patterns import TableSelector
from millrace_cdc.table_id import TableId
from millrace_cdc.transforms.rule_texts import FieldProblem, ParsedCall, RuleTexts

METADATA_COLUMNS = ("__namespace_name__", "__schema_name__", "__table_name__", "__data_event_type__")
"""Columns that every row can be asked for: the parts of its table's id, and its row kind, such as ``+I``."""


@dataclass(frozen=True)
class ProjectedColumn:
    """A column that a transform makes.

    Attributes:
        name: Its name.
        parts: Its value in Spark SQL, over the table's columns and the metadata columns: see `join_sql`.
        copied_from: The column that it is a copy of; None where it is computed.
        offset: The character of the projection that it begins at.
    """

    name: str
    parts: tuple[str, ...]
    copied_from: str | None = None
    offset: int = 0

    @property
    def expression(self) -> str:
        """The column's value in Spark SQL."""
        return join_sql(self.parts)


@dataclass(frozen=True)
class BoundCall:
    """A call of a user-defined function in a transform.

    Attributes:
        column: The name that stands for its result in expressions.
        function: The function.
        arguments: Its arguments in Spark SQL: see `join_sql`.
        field: The key of the rule that it is in.
        offset: The character of the value that it is at.
        place: Its rule and its text, for errors.
    """

    column: str
    function: UserFunction
    arguments: tuple[tuple[str, ...], ...]
    field: str
    offset: int
    place: str


@dataclass(frozen=True)
class BoundTransform:
    """A transform of one table, bound to its columns.

    Attributes:
        rule: Its definition.
        columns: The columns, in order.
        condition_parts: The condition that rows must meet, over the table's columns: see `join_sql`; None for all rows.
        primary_key: The names of the columns of the primary key; empty for none.
        missing_keys: The names in the rule's primary key that the table has no columns for.
        partition_keys: The names of the columns that divide the sink's table.
        table_options: Options of the sink's table.
        soft_delete: Whether a deleted row becomes an inserted one.
        calls: Calls of user-defined functions, inner ones first.
    """

    rule: TransformRule
    columns: tuple[ProjectedColumn, ...]
    condition_parts: tuple[str, ...] | None
    primary_key: tuple[str, ...]
    partition_keys: tuple[str, ...]
    table_options: tuple[tuple[str, str], ...]
    soft_delete: bool
    calls: tuple[BoundCall, ...] = ()
    missing_keys: tuple[str, ...] = ()

    @property
    def condition(self) -> str | None:
        """The condition in Spark SQL."""
        return None if self.condition_parts is None else join_sql(self.condition_parts)


@dataclass(frozen=True)
class Transform:
    """A rule, parsed.

    Attributes:
        rule: Its definition.
        selector: The tables that it is for.
        projection: The items of its projection; None for all columns.
        condition: Its filter; None for all rows.
        calls: Its calls of user-defined functions, inner ones first.
    """

    rule: TransformRule
    selector: TableSelector
    projection: tuple[ParsedExpression, ...] | None
    condition: ParsedExpression | None
    calls: tuple[ParsedCall, ...] = ()

    @classmethod
    def of(cls, rule: TransformRule, functions: Mapping[str, UserFunction] | None = None, first: int = 0) -> Transform:
        """Parse a rule.

        Args:
            rule: The rule.
            functions: User-defined functions by their names, in upper case.
            first: The number of calls of other rules.

        Raises:
            PipelineError: It is wrong; every problem is in it.
        """
        problems = tuple(rule_problems(rule, functions or {}))
        if problems:
            sentences = [Problem(None, f"option {problem.field!r}: {problem.sentence}") for problem in problems]
            raise PipelineError(f"transform of {rule.source_table}", sentences)
        texts = RuleTexts(rule, functions or {}, first)
        return cls(rule, TableSelector(rule.source_table), texts.projection(), texts.condition(), texts.calls())

    def bind(
        self,
        columns: Sequence[str],
        primary_key: Sequence[str] = (),
        metadata: Iterable[str] = (),
        types: Mapping[str, DataType] | None = None,
    ) -> BoundTransform:
        """Bind the rule to the columns of a table.

        A filter reads the table's columns, and computed ones whose names the table has not. A table that lacks a column
        of the rule's primary key keeps that of its messages.

        Args:
            columns: The names of the table's columns, in order.
            primary_key: The names of those of its primary key.
            metadata: The names of the metadata columns of the source.
            types: The types of the table's columns, as far as they are known.

        Raises:
            PipelineError: The rule names a column that there is not, or an expression is wrong for the types of its
                columns; every problem is in it.
        """
        known = dict(types or {}) | dict.fromkeys(METADATA_COLUMNS, STRING)
        known |= {parsed.call.column: parsed.function.result for parsed in self.calls}
        rule = self.rule
        problems = list(self._unknown_columns((*columns, *METADATA_COLUMNS, *metadata)))
        problems += self._wrong_types(known)
        self._raise(problems)
        projected = self._project(columns, known)
        names = [column.name for column in projected]
        missing_keys = tuple(name for name in rule.primary_keys if name not in names)
        if not self._takes_all_columns:
            problems += [_unknown("primary-keys", name, names) for name in missing_keys]
        problems += [_unknown("partition-keys", name, names) for name in rule.partition_keys if name not in names]
        self._raise(problems)
        kept_key = tuple(primary_key) if all(name in names for name in primary_key) else ()
        # A filter sees computed columns whose names the table has not
        computed = {column.name: column.parts for column in projected if column.name not in columns}
        filter_types = {**self._computed_types(known), **known}
        condition = None if self.condition is None else self.condition.parts(filter_types)
        return BoundTransform(
            rule,
            projected,
            None if condition is None else _with_computed(condition, computed),
            kept_key if missing_keys else rule.primary_keys or kept_key,
            rule.partition_keys,
            rule.table_options,
            rule.converter == "SOFT_DELETE",
            tuple(
                self._bound_call(parsed, computed, filter_types)
                if parsed.field == "filter"
                else self._bound_call(parsed, {}, known)
                for parsed in self.calls
            ),
            missing_keys,
        )

    @property
    def _takes_all_columns(self) -> bool:
        """True when tables have columns that the rule does not name."""
        return self.projection is None or any(item.name == STAR for item in self.projection)

    def _raise(self, problems: Sequence[FieldProblem]) -> None:
        rule = self.rule
        if problems:
            located = [
                Problem(rule.position(problem.field, problem.offset), f"option {problem.field!r}: {problem.sentence}")
                for problem in problems
            ]
            raise PipelineError(f"transform of {rule.source_table}", located)

    def _wrong_types(self, types: Mapping[str, DataType]) -> Iterator[FieldProblem]:
        for field, expression, place in self._expressions():
            try:
                expression.parts(types)
            except ExpressionError as error:
                yield FieldProblem(field, str(error), place + error.offset)

    def _unknown_columns(self, readable: Sequence[str]) -> Iterator[FieldProblem]:
        computed = [str(item.name) for item in self.projection or () if item.name not in (None, STAR)]
        names = {"projection": readable, "filter": (*readable, *computed)}
        for field, expression, place in self._expressions():
            yield from (
                _unknown(field, name, names[field], place + offset)
                for name, offset in expression.columns.items()
                if name not in names[field] and not is_call(name)
            )

    def _expressions(self) -> Iterator[tuple[str, ParsedExpression, int]]:
        """Yield all expressions, each with the key of its text and its place there."""
        yield from (("projection", item, 0) for item in self.projection or ())
        if self.condition is not None:
            yield "filter", self.condition, 0
        for parsed in self.calls:
            places = (place for _, place in parsed.call.arguments)
            yield from (
                (parsed.field, argument, place) for argument, place in zip(parsed.arguments, places, strict=True)
            )

    def _computed_types(self, types: Mapping[str, DataType]) -> dict[str, DataType]:
        """Return the types of computed columns, as far as they follow from those of the table's columns."""
        read = {
            name for field, expression, _ in self._expressions() if field == "filter" for name in expression.columns
        }
        items = (item for item in self.projection or () if item.name != STAR and item.name in read)
        return {str(item.name): type_ for item in items if (type_ := item.type(types)) is not None}

    def _bound_call(
        self, parsed: ParsedCall, computed: Mapping[str, tuple[str, ...]], types: Mapping[str, DataType]
    ) -> BoundCall:
        call, rule = parsed.call, self.rule
        arguments = tuple(_with_computed(argument.parts(types), computed) for argument in parsed.arguments)
        position = rule.position(parsed.field, call.offset)
        place = f"transform of {rule.source_table}{'' if position is None else f', {position}'}: {call.text}"
        return BoundCall(call.column, parsed.function, arguments, parsed.field, call.offset, place)

    def _project(self, columns: Sequence[str], types: Mapping[str, DataType]) -> tuple[ProjectedColumn, ...]:
        """Return the columns in order: a computed one takes the place of the column of its name that ``*`` brings."""
        projected: dict[str, ProjectedColumn] = {}
        for item in self.projection or (_ALL,):
            if item.name == STAR:
                projected |= {name: _copy(name, item.offset) for name in columns if name not in projected}
            else:
                name = str(item.name)
                projected[name] = ProjectedColumn(name, item.parts(types), item.column, item.offset)
        return tuple(projected.values())


_ALL = parse_projection(STAR)[0]


class Transforms:
    """The transforms of a pipeline.

    Args:
        rules: Their definitions, in order.
        functions: User-defined functions.

    Raises:
        PipelineError: One is wrong.
    """

    def __init__(self, rules: Iterable[TransformRule], functions: Iterable[UserFunction] = ()) -> None:
        named = by_name(functions)
        transforms: list[Transform] = []
        for rule in rules:
            transforms.append(Transform.of(rule, named, sum(len(transform.calls) for transform in transforms)))
        self._transforms = tuple(transforms)

    def of_table(self, table: TableId) -> tuple[Transform, ...]:
        """Return the transforms that are for a table, in order.

        A row takes the first of them whose condition it meets; where it meets none, it is dropped. A table without a
        transform stays as it is.
        """
        return tuple(transform for transform in self._transforms if transform.selector.matches(table))


def rule_problems(rule: TransformRule, functions: Mapping[str, UserFunction] | None = None) -> Iterator[FieldProblem]:
    """Yield the problems of a rule that show without a table's columns.

    Args:
        rule: The rule.
        functions: User-defined functions by their names, in upper case.
    """
    try:
        TableSelector(rule.source_table)
    except ValueError as error:
        yield FieldProblem("source-table", str(error))
    texts = RuleTexts(rule, functions or {})
    try:
        yield from _projection_problems(texts.projection() or (), rule)
    except ExpressionError as error:
        yield FieldProblem("projection", str(error), error.offset)
    try:
        texts.condition()
    except ExpressionError as error:
        yield FieldProblem("filter", str(error), error.offset)
    yield from texts.call_problems()


def _projection_problems(items: Iterable[ParsedExpression], rule: TransformRule) -> Iterator[FieldProblem]:
    names: set[str] = set()
    for item in items:
        if item.name is None:
            yield FieldProblem("projection", "expected a name for the expression: write AS and a name", item.offset)
        elif item.name in names:
            yield FieldProblem("projection", f"expected each column once, but {item.name} is repeated", item.offset)
        else:
            names.add(item.name)
        for key, columns in (("primary-keys", rule.primary_keys), ("partition-keys", rule.partition_keys)):
            if item.volatile and item.name in columns:
                message = (
                    f"column {item.name} of {key!r} is computed by {item.volatile}, which returns another value for "
                    "the old row of an update or a delete: choose another column"
                )
                yield FieldProblem("projection", message, item.offset)


def _with_computed(expression: tuple[str, ...], computed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Put the values of computed columns into an expression."""
    parts: list[str] = [""]
    for index, part in enumerate(expression):
        if index % 2 == 0:
            parts[-1] += part
        elif part in computed:
            first, *rest = computed[part]
            parts[-1] += f"({first}"
            parts += rest
            parts[-1] += ")"
        else:
            parts += (part, "")
    return tuple(parts)


def _copy(name: str, offset: int) -> ProjectedColumn:
    return ProjectedColumn(name, ("", name, ""), name, offset)


def _unknown(key: str, name: str, names: Sequence[str], offset: int = 0) -> FieldProblem:
    close = closest(name, names)
    hint = f"; did you mean {close!r}?" if close else f"; there are {', '.join(names)}"
    return FieldProblem(key, f"there is no column {name!r}{hint}", offset)
