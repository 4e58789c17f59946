"""Rows that stand for those of tables, so that Spark analyses a query and nothing is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType


def rows_like(spark: SparkSession, schema: StructType, *, streaming: bool = False) -> DataFrame:
    """Return rows of which the optimizer knows only their columns: it would make nothing of a query over no rows.

    Args:
        spark: The session.
        schema: The columns.
        streaming: Whether the rows are a stream.
    """
    from pyspark.sql import functions as fn
    from pyspark.sql.types import StructField, StructType

    source = spark.readStream.format("rate").load() if streaming else spark.range(1)
    names = [f"c{number}" for number in range(len(schema.fields))]
    fields = [
        StructField(name, _with_keys_of_text(field.dataType)) for name, field in zip(names, schema.fields, strict=True)
    ]
    text = fn.col(source.columns[-1]).cast("string")
    row = source.select(fn.from_json(text, StructType(fields)).alias("row"))
    return row.select(
        *(
            fn.col(f"row.{field.name}").cast(original.dataType).alias(original.name)
            for field, original in zip(fields, schema.fields, strict=True)
        )
    )


def _with_keys_of_text(type_: DataType) -> DataType:
    """Return a type whose maps have keys that JSON can have."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

    if isinstance(type_, ArrayType):
        return ArrayType(_with_keys_of_text(type_.elementType), type_.containsNull)
    if isinstance(type_, MapType):
        return MapType(StringType(), _with_keys_of_text(type_.valueType), type_.valueContainsNull)
    if isinstance(type_, StructType):
        fields = (StructField(field.name, _with_keys_of_text(field.dataType)) for field in type_)
        return StructType(list(fields))
    return type_
