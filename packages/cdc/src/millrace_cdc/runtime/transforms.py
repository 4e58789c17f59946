"""Transform the rows of tables by Spark SQL: one expression for all tables of a micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as fn
from pyspark.sql import types as sql

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace.errors import SchemaError
from millrace.pyspark_internals import empty_dataframe, parsed_column
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark, to_spark_schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.rows.change_records import RECORD_COLUMNS
from millrace_cdc.rows.json_expressions import json_sql, needs_json, value_sql
from millrace_cdc.runtime.change_parser import TableSchema, columns_of
from millrace_cdc.runtime.image_values import IMAGE_COLUMNS, RULE, ImageReader, TableImages, TransformedChanges
from millrace_cdc.runtime.transform_programs import (
    Parts,
    Program,
    ProgramRule,
    TableProgram,
    named_sql,
    table_program,
    value_name,
)
from millrace_cdc.transforms.expressions import join_sql
from millrace_cdc.transforms.transform import METADATA_COLUMNS, BoundTransform

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

ResultTypes = tuple[tuple[sql.DataType, ...], ...]
"""The types of the results of each rule."""

_CASES = 16
"""Programs that are compared one after the other; of more, half are left out first."""


class RowTransforms:
    """Check transforms, and apply them.

    Args:
        spark: The session of the pipeline.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types: dict[Program, ResultTypes] = {}
        self._columns: dict[Program, SparkColumn] = {}
        self._last: tuple[tuple[Program, ...], SparkColumn] | None = None
        self._programs: dict[str, tuple[TableSchema, Sequence[BoundTransform], TableProgram]] = {}

    def columns(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        """Return the columns that a transform makes of a table's.

        Raises:
            PipelineError: An expression is wrong for the table.
        """
        found = table_program(columns, [transform])
        (results,) = self._result_types(found.program, table, columns, [transform])
        computed = map(deeply_nullable, from_spark_schema(_struct(results)).types.values())
        # A copy keeps what Spark does not know of its type; any column may become NULL later
        types = columns.types
        (rule,) = found.rules
        return Schema(
            tuple(Column(name, next(computed) if source is None else types[source]) for name, source in rule.columns)
        )

    def apply(
        self,
        changes: DataFrame,
        tables: Mapping[str, TableSchema],
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
        programs: dict[Program, int] = {}
        images = {name: self._images(name, tables[name], each, programs) for name, each in transforms.items()}
        if not images:
            return changes, iter
        is_transformed = fn.col("table").isin(list(images))
        values = changes.where(is_transformed).mapInArrow(
            lambda batches: ImageReader(images, fitting).read(batches), f"{CHANGE_BATCH_COLUMNS}, {IMAGE_COLUMNS}"
        )
        results = self._chosen(tuple(programs))
        computed = values.select(*RECORD_COLUMNS, results.alias("results"))
        others = changes.where(~is_transformed).select(
            *RECORD_COLUMNS, fn.lit(None).cast("array<string>").alias("results")
        )
        return others.unionAll(computed), lambda batches: TransformedChanges(images).make(batches)

    def _images(
        self, name: str, table: TableSchema, transforms: Sequence[BoundTransform], programs: dict[Program, int]
    ) -> TableImages:
        cached = self._programs.get(name)
        if cached is None or cached[:2] != (table, transforms):
            columns = columns_of(table)
            found = table_program(columns, transforms)
            self._result_types(found.program, name, columns, transforms)
            cached = self._programs[name] = table, transforms, found
        found = cached[2]
        number = programs.setdefault(found.program, len(programs))
        objects = frozenset(index for index, type_ in enumerate(found.program.types) if needs_json(to_spark(type_)))
        return TableImages(table, number, found.reads, objects, found.rules)

    def _chosen(self, programs: tuple[Program, ...]) -> SparkColumn:
        """Choose the results of the program that a row has.

        All of it is in ``zip_with``, which Spark evaluates without generating code: the code would be too large for a
        method, and another one whenever other tables have changes.
        """
        if self._last is not None and self._last[0] == programs:
            return self._last[1]
        columns = [self._column(program) for program in programs]

        def choose(start: int, end: int) -> SparkColumn:
            number = fn.col("program")
            if end - start > _CASES:
                middle = (start + end) // 2
                return fn.when(number < middle, choose(start, middle)).otherwise(choose(middle, end))
            found = fn.when(number == start, columns[start])
            for index in range(start + 1, end):
                found = found.when(number == index, columns[index])
            return found

        one = fn.array(fn.lit(0))
        chosen = fn.zip_with(one, one, lambda _, __: choose(0, len(columns))).getItem(0)
        self._last = programs, chosen
        return chosen

    def _column(self, program: Program) -> SparkColumn:
        column = self._columns.get(program)
        if column is None:
            column = self._columns[program] = parsed_column(self._spark, _program_sql(program, self._types[program]))
        return column

    def _result_types(
        self, program: Program, table: str, columns: Schema, transforms: Sequence[BoundTransform]
    ) -> ResultTypes:
        """Return the types of the results of each rule of a program.

        Raises:
            PipelineError: An expression is wrong for the types of the table's columns.
        """
        found = self._types.get(program)
        if found is None:
            values = _struct([to_spark(type_) for type_ in program.types])
            source = empty_dataframe(self._spark, values)
            try:
                found = tuple(_analyzed(source, rule) for rule in program.rules)
            except (AnalysisException, ParseException, SchemaError):
                # Once more, with the names of the table's columns, and which of the expressions it is
                for transform in transforms:
                    self._explain(table, columns, transform)
                raise
            self._types[program] = found
        return found

    def _explain(self, table: str, columns: Schema, transform: BoundTransform) -> None:
        """Raise the error of a wrong expression, with its place."""
        empty = empty_dataframe(self._spark, to_spark_schema(columns))
        source = empty.withColumns({name: fn.lit(None).cast("string") for name in METADATA_COLUMNS})
        if transform.condition is not None:
            source = _checked(table, transform.rule, ("filter", 0), partial(source.where, transform.condition))
        for each in transform.columns:
            column = fn.expr(each.expression).alias(each.name)
            analyze = partial(lambda chosen: from_spark_schema(source.select(chosen).schema), column)
            _checked(table, transform.rule, ("projection", each.offset), analyze)


def _struct(types: Sequence[sql.DataType]) -> sql.StructType:
    return sql.StructType([sql.StructField(value_name(number), type_) for number, type_ in enumerate(types)])


def _analyzed(source: DataFrame, rule: ProgramRule) -> tuple[sql.DataType, ...]:
    if rule.condition is not None:
        source = source.where(named_sql(rule.condition))
    schema = source.select(
        *(fn.expr(named_sql(each)).alias(value_name(n)) for n, each in enumerate(rule.results))
    ).schema
    from_spark_schema(schema)
    return tuple(field.dataType for field in schema)


def _program_sql(program: Program, results: ResultTypes) -> str:
    """Write a program as a function from the values of the rows of a change to its results."""
    values = [value_sql(f"u[{number}]", to_spark(type_)) for number, type_ in enumerate(program.types)]

    def written(parts: Parts) -> str:
        return join_sql(parts, lambda number: values[int(number)])

    cases = ["WHEN u IS NULL THEN NULL"]
    for number, (rule, types) in enumerate(zip(program.rules, results, strict=True)):
        fields = [f"'{RULE}', {number}"]
        fields += [
            f"'{value_name(index)}', {json_sql(f'({written(parts)})', type_)}"
            for index, (parts, type_) in enumerate(zip(rule.results, types, strict=True))
        ]
        json = f"to_json(named_struct({', '.join(fields)}), map('ignoreNullFields', 'false'))"
        condition = "TRUE" if rule.condition is None else written(rule.condition)
        cases.append(f"WHEN {condition} THEN {json}")
    return f"transform(images, u -> CASE {' '.join(cases)} END)"


def _checked(table: str, rule: TransformRule, place: tuple[str, int], analyze: Callable[[], T]) -> T:
    """Analyze a part of a transform; its error has the part's place."""
    try:
        return analyze()
    except (AnalysisException, ParseException, SchemaError) as error:
        problem = Problem(rule.position(*place), _first_line(error))
        raise PipelineError(f"transform of table {table!r}", [problem]) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(" SQLSTATE")[0]
