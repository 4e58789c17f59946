"""Avro in a registry's frame, beside spark-avro's ``from_avro`` and ``to_avro``, with the frame cut off or put on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.data import ARROW_SCHEMA, record_rows
from bench.formats.case import FormatCase, plugin
from bench.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NAME = "avro-confluent"
_FRAME = "0000000001"


def avro_confluent(registry: SchemaRegistry, *, has_jar: bool) -> FormatCase:
    """Make the case.

    Args:
        registry: It is running, and knows no schema.
        has_jar: Whether Spark has spark-avro.
    """
    options = {f"{_NAME}.url": registry.url, f"{_NAME}.subject": "bench"}
    encoder = plugin(_NAME, options).create().encoder(ARROW_SCHEMA)
    encoder.encode(record_rows(0, 1))
    return FormatCase(
        _NAME,
        messages=lambda start, stop: list(encoder.encode(record_rows(start, stop)).to_list()),
        bad=lambda message: message[:20],
        in_spark=_InSpark(registry.schema) if has_jar else None,
        by_hand=None,
        decode_target=2,
        read_target=1.5,
        options=options,
        lenient={"ingestion.ignore-errors": "true"},
    )


class _InSpark:
    reads, writes = "from_avro", "to_avro"

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def rows(self, values: DataFrame) -> DataFrame:
        from pyspark.sql.avro.functions import from_avro
        from pyspark.sql.functions import expr

        datum = expr("substring(value, 6)")
        return values.select(from_avro(datum, self._schema).alias("record")).select("record.*")

    def value(self) -> Column:
        from pyspark.sql.avro.functions import to_avro
        from pyspark.sql.functions import concat, expr

        return concat(expr(f"X'{_FRAME}'"), to_avro(expr("struct(*)"), self._schema))
