"""Transform the rows of tables by Spark SQL: all tables of a micro-batch in one plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as fn

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace.errors import SchemaError
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark_schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError, Problem
from millrace_cdc.runtime.change_parser import KnownTable, columns_of
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.json_rows import row_json, row_struct
from millrace_cdc.runtime.projection import table_id, table_metadata
from millrace_cdc.transforms.transform import METADATA_COLUMNS, BoundTransform

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_PLACE = ("topic", "partition", "offset", "timestamp")
_BEFORE, _AFTER, _ROW, _KEPT = "__millrace_before", "__millrace_after", "__millrace_row", "__millrace_kept"
_IMAGES = {_BEFORE: ("before", {"u": "-U", "d": "-D"}), _AFTER: ("after", {"c": "+I", "u": "+U"})}
"""The rows of a change: their columns, and their row kinds by operation."""


class RowTransforms:
    """Check transforms, and apply them.

    Args:
        spark: The session of the pipeline.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[tuple[BoundTransform, Schema], Schema] = {}

    def columns(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        """Return the columns that a transform makes of a table's.

        Raises:
            PipelineError: An expression is wrong for the table.
        """
        known = self._known.get((transform, columns))
        if known is None:
            known = self._known[transform, columns] = self._analyze(table, columns, transform)
        return known

    def apply(
        self,
        changes: DataFrame,
        tables: Mapping[str, KnownTable],
        transforms: Mapping[str, Sequence[BoundTransform]],
    ) -> DataFrame:
        """Transform the changes of some tables; those of others stay as they are.

        A row takes the first transform whose condition it meets. An update of which only one row meets any is an
        insertion or a deletion.

        Args:
            changes: Changes as the parser yields them, without reports.
            tables: The source's tables.
            transforms: Transforms by table, of tables that have changes.
        """
        if not transforms:
            return changes
        others = changes.where(~fn.col("table").isin(list(transforms)))
        parts = (self._transform(changes, name, tables[name], each) for name, each in transforms.items())
        return reduce(lambda left, right: left.unionByName(right), parts, others)

    def _transform(
        self, changes: DataFrame, name: str, table: KnownTable, transforms: Sequence[BoundTransform]
    ) -> DataFrame:
        rows = changes.where(fn.col("table") == name).mapInArrow(
            lambda batches: ChangeConverter({name: (name,)}, {name: table}).convert(batches), CHANGE_BATCH_COLUMNS
        )
        columns = columns_of(table)
        for image in _IMAGES:
            rows = self._project(rows, name, image, columns, transforms)
        return _with_operation(rows, name)

    def _project(
        self, rows: DataFrame, name: str, image: str, columns: Schema, transforms: Sequence[BoundTransform]
    ) -> DataFrame:
        """Add a struct of one image's transformed row, as JSON; NULL where there is no row, or it is filtered."""
        kept = rows.columns
        source, events = _IMAGES[image]
        kinds = fn.create_map(*(fn.lit(each) for pair in events.items() for each in pair))
        metadata = table_metadata(table_id(name))
        # Hidden in a struct, so that the names of a table's columns never meet others
        typed = rows.select(
            fn.struct(*kept).alias(_KEPT),
            row_struct(fn.col(source), to_spark_schema(columns)).alias(_ROW),
            *(fn.lit(text).cast("string").alias(column) for column, text in metadata.items()),
            kinds[fn.col("operation")].alias(METADATA_COLUMNS[-1]),
        )
        fields = (fn.col(_ROW).getField(field).alias(field) for field in columns.names)
        flat = typed.select(_KEPT, _ROW, *METADATA_COLUMNS, *fields)
        chosen: SparkColumn | None = None
        for transform in transforms:
            row = fn.struct(*(fn.expr(each.expression).alias(each.name) for each in transform.columns))
            json = row_json(row, to_spark_schema(self.columns(name, columns, transform)))
            value = fn.struct(json.alias("json"), fn.lit(transform.soft_delete).alias("soft_delete"))
            condition = fn.col(_ROW).isNotNull()
            if transform.condition is not None:
                condition = condition & fn.expr(transform.condition)
            chosen = fn.when(condition, value) if chosen is None else chosen.when(condition, value)
        assert chosen is not None  # noqa: S101
        return flat.select(fn.col(f"{_KEPT}.*"), chosen.alias(image))

    def _analyze(self, table: str, columns: Schema, transform: BoundTransform) -> Schema:
        empty = self._spark.createDataFrame([], to_spark_schema(columns))
        source = empty.withColumns({name: fn.lit(None).cast("string") for name in METADATA_COLUMNS})
        if transform.condition is not None:
            source = _checked(table, transform.rule, ("filter", 0), partial(source.where, transform.condition))
        columns_sql = [fn.expr(each.expression).alias(each.name) for each in transform.columns]

        def analyzed(*chosen: SparkColumn) -> Schema:
            return from_spark_schema(source.select(*chosen).schema)

        try:
            found = analyzed(*columns_sql)
        except (AnalysisException, ParseException, SchemaError):
            # Which of them it is
            for each, column in zip(transform.columns, columns_sql, strict=True):
                _checked(table, transform.rule, ("projection", each.offset), partial(analyzed, column))
            raise
        # A copy keeps what Spark does not know of its type; any column may become NULL later
        copied = {
            each.name: columns.types[each.copied_from]
            for each in transform.columns
            if each.copied_from in columns.types
        }
        types = {name: copied.get(name, deeply_nullable(type_)) for name, type_ in found.types.items()}
        return Schema(tuple(Column(name, type_) for name, type_ in types.items()))


def _with_operation(rows: DataFrame, table: str) -> DataFrame:
    before, after = fn.col(_BEFORE), fn.col(_AFTER)
    # A deletion that is made an insertion
    is_soft = (fn.col("operation") == "d") & before.isNotNull() & before.getField("soft_delete")
    old = fn.when(~fn.coalesce(is_soft, fn.lit(False)), before.getField("json"))
    new = fn.when(is_soft, before.getField("json")).otherwise(after.getField("json"))
    operation = fn.when(old.isNotNull() & new.isNotNull(), "u").when(new.isNotNull(), "c").otherwise("d")
    return rows.where(before.isNotNull() | after.isNotNull()).select(
        fn.lit(table).alias("table"), operation.alias("operation"), old.alias("before"), new.alias("after"), *_PLACE
    )


def _checked(table: str, rule: TransformRule, place: tuple[str, int], analyze: Callable[[], T]) -> T:
    """Analyze a part of a transform; its error has the part's place."""
    try:
        return analyze()
    except (AnalysisException, ParseException, SchemaError) as error:
        problem = Problem(rule.position(*place), _first_line(error))
        raise PipelineError(f"transform of table {table!r}", [problem]) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(" SQLSTATE")[0]
