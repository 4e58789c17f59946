"""Transform the rows of tables by Spark SQL: all tables of a micro-batch in one plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as fn

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace.errors import SchemaError
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark_schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.runtime.change_parser import KnownTable, columns_of
from millrace_cdc.runtime.conversion import ChangeConverter
from millrace_cdc.runtime.json_rows import row_json, row_struct
from millrace_cdc.runtime.projection import TABLE_METADATA, Projection, table_id, table_metadata

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_PLACE = ("topic", "partition", "offset", "timestamp")
_BEFORE, _AFTER, _ROW, _KEPT = "__millrace_before", "__millrace_after", "__millrace_row", "__millrace_kept"


class Transforms:
    """Check projections, and apply them.

    Args:
        spark: The session of the pipeline.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[tuple[Projection, Schema], tuple[Schema, bool]] = {}

    def columns(self, table: str, columns: Schema, projection: Projection) -> Schema:
        """Return the columns that a projection makes of a table's.

        Raises:
            SchemaError: An expression is wrong for the table, or two columns have the same name.
        """
        return self._analyze(table, columns, projection)[0]

    def apply(
        self, changes: DataFrame, tables: Mapping[str, KnownTable], projections: Mapping[str, Projection]
    ) -> DataFrame:
        """Transform the changes of some tables; those of others stay as they are.

        An update of which only one row meets the filter is an insertion or a deletion.

        Args:
            changes: Changes as the parser yields them, without reports.
            tables: The source's tables.
            projections: Projections by table, of tables that have changes.
        """
        if not projections:
            return changes
        others = changes.where(~fn.col("table").isin(list(projections)))
        parts = (self._transform(changes, name, tables[name], each) for name, each in projections.items())
        return reduce(lambda left, right: left.unionByName(right), parts, others)

    def _transform(self, changes: DataFrame, name: str, table: KnownTable, projection: Projection) -> DataFrame:
        columns = columns_of(table)
        schema = to_spark_schema(columns)
        after, filters_result = self._analyze(name, columns, projection)
        converted = changes.where(fn.col("table") == name).mapInArrow(
            lambda batches: ChangeConverter({name: (name,)}, {name: table}).convert(batches), CHANGE_BATCH_COLUMNS
        )
        rows = converted
        for image, event in ((_BEFORE, {"u": "-U", "d": "-D"}), (_AFTER, {"c": "+I", "u": "+U"})):
            rows = self._project(rows, name, image, event, schema, projection, filters_result)
        return _with_operation(rows, projection.is_soft_delete, to_spark_schema(after), name)

    def _project(
        self,
        rows: DataFrame,
        name: str,
        image: str,
        event: Mapping[str, str],
        schema: StructType,
        projection: Projection,
        filters_result: bool,
    ) -> DataFrame:
        """Add a struct of the projected columns of one image of rows; NULL where there is no row, or it is filtered."""
        kept = rows.columns
        source = fn.col("before" if image == _BEFORE else "after")
        kinds = fn.create_map(*(fn.lit(each) for pair in event.items() for each in pair))
        metadata = [fn.lit(text).alias(column) for column, text in table_metadata(table_id(name)).items()]
        metadata.append(kinds[fn.col("operation")].alias(TABLE_METADATA[-1]))
        # Hidden in a struct, so that the names of a table's columns never meet others
        typed = rows.select(fn.struct(*kept).alias(_KEPT), row_struct(source, schema).alias(_ROW), *metadata)
        flat = typed.select(_KEPT, _ROW, *TABLE_METADATA, *(fn.col(_ROW).getField(n).alias(n) for n in schema.names))
        row = fn.struct(*map(fn.expr, projection.items))
        condition = fn.lit(True) if projection.filter is None else fn.expr(projection.filter)
        if projection.filter is not None and filters_result:
            projected = flat.select(_KEPT, _ROW, row.alias(image))
            names = projected.schema[image].dataType.names
            condition_frame = projected.select(_KEPT, _ROW, image, *(fn.col(image).getField(n).alias(n) for n in names))
            meets = condition_frame.select(_KEPT, _ROW, fn.col(image), condition.alias("meets"))
        else:
            meets = flat.select(_KEPT, _ROW, row.alias(image), condition.alias("meets"))
        present = fn.when(fn.col(_ROW).isNotNull() & fn.col("meets"), fn.col(image))
        return meets.select(*(fn.col(_KEPT).getField(column).alias(column) for column in kept), present.alias(image))

    def _analyze(self, table: str, columns: Schema, projection: Projection) -> tuple[Schema, bool]:
        known = self._known.get((projection, columns))
        if known is None:
            known = self._known[projection, columns] = self._analyze_once(table, columns, projection)
        return known

    def _analyze_once(self, table: str, columns: Schema, projection: Projection) -> tuple[Schema, bool]:
        empty = self._spark.createDataFrame([], to_spark_schema(columns))
        metadata = {name: fn.lit(None).cast("string") for name in TABLE_METADATA}
        source = empty.withColumns(metadata)
        try:
            result = source.selectExpr(*projection.items)
            filters_result = projection.filter is not None and _needs_result(source, result, projection.filter)
            return _nullable(from_spark_schema(result.schema)), filters_result
        except (AnalysisException, ParseException) as error:
            raise SchemaError(f"transform of table {table!r}: {_first_line(error)}") from None
        except ValueError as error:
            raise SchemaError(f"transform of table {table!r}: {error}") from None


def _needs_result(source: DataFrame, result: DataFrame, condition: str) -> bool:
    """Return whether a condition names columns that the projection computes; AnalysisException where it is wrong."""
    try:
        source.where(condition)
    except AnalysisException:
        result.where(condition)
        return True
    return False


def _with_operation(rows: DataFrame, is_soft_delete: bool, schema: StructType, table: str) -> DataFrame:
    before, after = fn.col(_BEFORE), fn.col(_AFTER)
    operation: SparkColumn = (
        fn.when(before.isNotNull() & after.isNotNull(), "u").when(after.isNotNull(), "c").when(before.isNotNull(), "d")
    )
    if is_soft_delete:
        deleted = fn.col("operation") == "d"
        after = fn.when(deleted, before).otherwise(after)
        before = fn.when(~deleted, before)
        operation = fn.when(deleted & fn.col(_BEFORE).isNotNull(), "c").otherwise(operation)
    return rows.where(fn.col(_BEFORE).isNotNull() | fn.col(_AFTER).isNotNull()).select(
        fn.lit(table).alias("table"),
        operation.alias("operation"),
        row_json(before, schema).alias("before"),
        row_json(after, schema).alias("after"),
        *_PLACE,
    )


def _nullable(schema: Schema) -> Schema:
    """Make all columns nullable: a table's columns may become less than an expression is at first."""
    return Schema(tuple(Column(each.name, deeply_nullable(each.type)) for each in schema))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(" SQLSTATE")[0]
