"""Transform the rows of tables by Spark SQL: one expression for all tables of a micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as fn
from pyspark.sql import types as sql

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace.errors import SchemaError
from millrace.failures import reason_of
from millrace.pyspark_internals import empty_dataframe, parsed_column
from millrace_catalog.expressions.parsing import join_sql
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.spark import from_spark, from_spark_schema, to_spark, to_spark_schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_catalog.user_functions.sources import FunctionError
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.rows.change_records import RECORD_COLUMNS
from millrace_cdc.rows.json_expressions import json_sql, needs_json, value_sql
from millrace_cdc.runtime.function_calls import ARGUMENTS, FunctionCalls, RunnableCall, TableCalls
from millrace_cdc.runtime.image_values import IMAGE_COLUMNS, RULE, ImageReader, TableImages, TransformedChanges
from millrace_cdc.runtime.table_schema import SourceTableSchema, columns_of
from millrace_cdc.runtime.transform_programs import (
    Parts,
    Program,
    ProgramCall,
    ProgramRule,
    TableProgram,
    argument_name,
    named_sql,
    table_program,
    value_name,
)
from millrace_cdc.transforms.transform import METADATA_COLUMNS, BoundTransform

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

Types = tuple[sql.DataType, ...]


@dataclass(frozen=True)
class ProgramTypes:
    """Types that Spark finds in a program.

    Attributes:
        results: Those of the results of each rule.
        arguments: Those of the arguments of each call.
    """

    results: tuple[Types, ...]
    arguments: tuple[Types, ...]


_NO_ARGUMENT = f"'{argument_name(0)}', 0"

_CASES = 16
"""Programs that are compared one after the other; of more, half are left out first."""


class RowTransforms:
    """Check transforms, and apply them.

    Args:
        spark: The session of the pipeline.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types: dict[Program, ProgramTypes] = {}
        self._columns: dict[tuple[Program, int | None], SparkColumn] = {}
        self._last: dict[int | None, tuple[tuple[Program, ...], SparkColumn]] = {}
        self._programs: dict[str, tuple[SourceTableSchema, Sequence[BoundTransform], TableProgram]] = {}

    def columns(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        """Return the columns that a transform makes of a table's.

        Raises:
            PipelineError: An expression is wrong for the table.
        """
        compiled = table_program(columns, [transform])
        (results,) = self._types_of(compiled.program, table, columns, [transform]).results
        computed = map(deeply_nullable, from_spark_schema(_struct(results)).types.values())
        # A copy keeps what Spark does not know of its type; any column may become NULL later
        types = columns.types
        (rule,) = compiled.rules
        return Schema(
            tuple(Column(name, next(computed) if source is None else types[source]) for name, source in rule.columns)
        )

    def apply(
        self,
        changes: DataFrame,
        tables: Mapping[str, SourceTableSchema],
        transforms: Mapping[str, Sequence[BoundTransform]],
        fitting: frozenset[str] = frozenset(),
    ) -> tuple[DataFrame, Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]]:
        """Transform the changes of some tables; those of others stay as they are.

        A row takes the first transform whose condition it meets. An update of which only one row meets any is an
        insertion or a deletion.

        Args:
            changes: Changes as the parser yields them, without reports.
            tables: The source's tables.
            transforms: Transforms by table, of tables that have changes.
            fitting: The ids of those of the tables whose rows have all columns of their tables already.

        Returns:
            Changes with what Spark has computed of them, and a function for tasks that makes changes of these.
        """
        if not transforms:
            return changes, iter
        images, programs = self.images(tables, transforms)
        is_transformed = fn.col("table").isin(list(images))
        values = changes.where(is_transformed).mapInArrow(
            lambda batches: ImageReader(images, fitting).read(batches), f"{CHANGE_BATCH_COLUMNS}, {IMAGE_COLUMNS}"
        )
        for level in range(max(len(program.levels) for program in programs)):
            values = self._with_calls(values, programs, level, images)
        computed = values.select(*RECORD_COLUMNS, self.results(programs).alias("results"))
        others = changes.where(~is_transformed).select(
            *RECORD_COLUMNS, fn.lit(None).cast("array<string>").alias("results")
        )
        return others.unionAll(computed), lambda batches: TransformedChanges(images).make(batches)

    def images(
        self, tables: Mapping[str, SourceTableSchema], transforms: Mapping[str, Sequence[BoundTransform]]
    ) -> tuple[dict[str, TableImages], tuple[Program, ...]]:
        """Return what `ImageReader` has to know of tables, and their programs by their numbers.

        Args:
            tables: The source's tables.
            transforms: Transforms by table.

        Raises:
            PipelineError: An expression is wrong for its table.
        """
        programs: dict[Program, int] = {}
        images = {
            name: self._images(name, tables[name], table_transforms, programs)
            for name, table_transforms in transforms.items()
        }
        return images, tuple(programs)

    def results(self, programs: tuple[Program, ...]) -> SparkColumn:
        """Return the column with the results of programs, for `TransformedChanges`."""
        return self._chosen(programs, None)

    def _with_calls(
        self, values: DataFrame, programs: tuple[Program, ...], level: int, images: Mapping[str, TableImages]
    ) -> DataFrame:
        """Add the results of the calls of a level to the values of rows."""
        tables = {
            name: calls
            for name, table_images in images.items()
            if (calls := self._table_calls(programs[table_images.program], table_images.places, level)).calls
        }
        with_arguments = values.withColumn(ARGUMENTS, self._chosen(programs, level))
        return with_arguments.mapInArrow(
            lambda batches: FunctionCalls(tables).run(batches), f"{CHANGE_BATCH_COLUMNS}, {IMAGE_COLUMNS}"
        )

    def _table_calls(self, program: Program, places: Sequence[str], level: int) -> TableCalls:
        numbers = [number for number, call in enumerate(program.calls) if call.level == level]
        runnable_calls = []
        for number in numbers:
            function, types = program.calls[number].function, self._types[program].arguments[number]
            arguments = tuple(map(from_spark, types))
            is_arrow = function.signature.is_arrow
            runnable_calls.append(RunnableCall(function.source, function.options, is_arrow, arguments, function.result))
        return TableCalls(tuple(runnable_calls), tuple(places[number] for number in numbers))

    def _images(
        self, name: str, table: SourceTableSchema, transforms: Sequence[BoundTransform], programs: dict[Program, int]
    ) -> TableImages:
        cached = self._programs.get(name)
        if cached is None or cached[:2] != (table, transforms):
            columns = columns_of(table)
            compiled = table_program(columns, transforms)
            self._types_of(compiled.program, name, columns, transforms)
            cached = self._programs[name] = table, transforms, compiled
        compiled = cached[2]
        number = programs.setdefault(compiled.program, len(programs))
        objects = frozenset(index for index, type_ in enumerate(compiled.program.types) if needs_json(to_spark(type_)))
        return TableImages(table, number, compiled.reads, objects, compiled.rules, compiled.places)

    def _chosen(self, programs: tuple[Program, ...], level: int | None) -> SparkColumn:
        """Choose the results of the program that a row has, or the arguments of its calls of a level.

        All of it is in ``zip_with``, which Spark evaluates without generating code: the code would be too large for a
        method, and another one whenever other tables have changes.
        """
        last = self._last.get(level)
        if last is not None and last[0] == programs:
            return last[1]
        columns = [self._column(program, level) for program in programs]

        def choose(start: int, end: int) -> SparkColumn:
            number = fn.col("program")
            if end - start > _CASES:
                middle = (start + end) // 2
                return fn.when(number < middle, choose(start, middle)).otherwise(choose(middle, end))
            case = fn.when(number == start, columns[start])
            for index in range(start + 1, end):
                case = case.when(number == index, columns[index])
            return case

        one = fn.array(fn.lit(0))
        chosen = fn.zip_with(one, one, lambda _, __: choose(0, len(columns))).getItem(0)
        self._last[level] = programs, chosen
        return chosen

    def _column(self, program: Program, level: int | None) -> SparkColumn:
        column = self._columns.get((program, level))
        if column is None:
            types = self._types[program]
            text = _program_sql(program, types) if level is None else _arguments_sql(program, types, level)
            column = self._columns[program, level] = parsed_column(self._spark, text)
        return column

    def _types_of(
        self, program: Program, table: str, columns: Schema, transforms: Sequence[BoundTransform]
    ) -> ProgramTypes:
        """Return the types that Spark finds in a program.

        Raises:
            PipelineError: An expression is wrong for the types of the table's columns.
        """
        types = self._types.get(program)
        if types is None:
            values = _struct([to_spark(type_) for type_ in program.types])
            source = empty_dataframe(self._spark, values)
            try:
                arguments = tuple(_call_types(source, call) for call in program.calls)
                types = ProgramTypes(tuple(_analyzed(source, rule) for rule in program.rules), arguments)
            except (AnalysisException, ParseException, SchemaError, FunctionError):
                # Once more, with the names of the table's columns, and which of the expressions it is
                for transform in transforms:
                    self._explain(table, columns, transform)
                raise
            self._types[program] = types
        return types

    def _explain(self, table: str, columns: Schema, transform: BoundTransform) -> None:
        """Raise the error of a wrong expression, with its place."""
        empty = empty_dataframe(self._spark, to_spark_schema(columns))
        types = dict.fromkeys(METADATA_COLUMNS, sql.StringType())
        types |= {call.column: to_spark(call.function.result) for call in transform.calls}
        source = empty.withColumns({name: fn.lit(None).cast(type_) for name, type_ in types.items()})
        for call in transform.calls:
            arguments = [join_sql(parts) for parts in call.arguments]
            check = partial(_checked_call, source, call.function, arguments)
            _checked(table, transform.rule, (call.field, call.offset), check)
        if transform.condition is not None:
            source = _checked(table, transform.rule, ("filter", 0), partial(source.where, transform.condition))
        for projected in transform.columns:
            column = fn.expr(projected.expression).alias(projected.name)
            analyze = partial(lambda chosen: from_spark_schema(source.select(chosen).schema), column)
            _checked(table, transform.rule, ("projection", projected.offset), analyze)


def _call_types(source: DataFrame, call: ProgramCall) -> Types:
    return _checked_call(source, call.function, [named_sql(parts) for parts in call.arguments])


def _checked_call(source: DataFrame, function: UserFunction, arguments: Sequence[str]) -> Types:
    """Return the types of the arguments of a call.

    Raises:
        FunctionError: The function does not take them.
    """
    chosen = source.select(*(fn.expr(argument).alias(argument_name(n)) for n, argument in enumerate(arguments)))
    types = tuple(field.dataType for field in chosen.schema)
    try:
        function.signature.check(tuple(map(from_spark, types)))
    except FunctionError as error:
        raise FunctionError(f"function {function.name!r}: {error}") from None
    return types


def _struct(types: Sequence[sql.DataType]) -> sql.StructType:
    return sql.StructType([sql.StructField(value_name(number), type_) for number, type_ in enumerate(types)])


def _analyzed(source: DataFrame, rule: ProgramRule) -> Types:
    if rule.condition is not None:
        source = source.where(named_sql(rule.condition))
    schema = source.select(
        *(fn.expr(named_sql(result)).alias(value_name(n)) for n, result in enumerate(rule.results))
    ).schema
    from_spark_schema(schema)
    return tuple(field.dataType for field in schema)


def _values_sql(program: Program) -> Callable[[Parts], str]:
    """Return a function that writes an expression over the values of a row."""
    values = [value_sql(f"u[{number}]", to_spark(type_)) for number, type_ in enumerate(program.types)]
    return lambda parts: join_sql(parts, lambda number: values[int(number)])


def _arguments_sql(program: Program, types: ProgramTypes, level: int) -> str:
    """Write the calls of a level as a function from the values of the rows of a change to their arguments."""
    written = _values_sql(program)
    calls = [
        (call, argument_types)
        for call, argument_types in zip(program.calls, types.arguments, strict=True)
        if call.level == level
    ]
    if not calls:
        return "CAST(NULL AS ARRAY<STRING>)"
    fields = []
    for number, (call, argument_types) in enumerate(calls):
        arguments = [
            f"'{argument_name(index)}', {json_sql(f'({written(parts)})', type_)}"
            for index, (parts, type_) in enumerate(zip(call.arguments, argument_types, strict=True))
        ]
        # A call without arguments has an object, too, which says that it is called
        argument_object = f"named_struct({', '.join(arguments or [_NO_ARGUMENT])})"
        if call.condition is not None:
            argument_object = f"CASE WHEN {written(call.condition)} THEN {argument_object} END"
        fields.append(f"'{argument_name(number)}', {argument_object}")
    json = f"to_json(named_struct({', '.join(fields)}), map('ignoreNullFields', 'false'))"
    return f"transform(images, u -> CASE WHEN u IS NULL THEN NULL ELSE {json} END)"


def _program_sql(program: Program, types: ProgramTypes) -> str:
    """Write a program as a function from the values of the rows of a change to its results."""
    written = _values_sql(program)
    cases = ["WHEN u IS NULL THEN NULL"]
    for number, (rule, result_types) in enumerate(zip(program.rules, types.results, strict=True)):
        fields = [f"'{RULE}', {number}"]
        fields += [
            f"'{value_name(index)}', {json_sql(f'({written(parts)})', type_)}"
            for index, (parts, type_) in enumerate(zip(rule.results, result_types, strict=True))
        ]
        json = f"to_json(named_struct({', '.join(fields)}), map('ignoreNullFields', 'false'))"
        condition = "TRUE" if rule.condition is None else written(rule.condition)
        cases.append(f"WHEN {condition} THEN {json}")
    return f"transform(images, u -> CASE {' '.join(cases)} END)"


def _checked(table: str, rule: TransformRule, place: tuple[str, int], analyze: Callable[[], T]) -> T:
    """Analyze a part of a transform; its error has the part's place."""
    try:
        return analyze()
    except (AnalysisException, ParseException, SchemaError, FunctionError) as error:
        problem = Problem(rule.position(*place), reason_of(error))
        raise PipelineError(f"transform of table {table!r}", [problem]) from None
