"""A topic as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import CatalogColumn, CatalogTable
from millrace.options.secrets import Properties
from millrace_catalog.inference import InferredColumn, InferredKey
from millrace_catalog.inference.sampled import SampledTable
from millrace_catalog.tables.read_options import read_options
from millrace_catalog.tables.table_schema import Shape, ShapedColumn
from millrace_catalog.tables.table_text import create_table, described
from millrace_catalog.types import Schema
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_catalog.types.json_schema import to_json_schema
from millrace_catalog.types.spark_ddl import spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from millrace_catalog.tables.options import Configured


class KafkaJsonTable(CatalogTable):
    """A topic as its newest messages say; made by `KafkaJsonCatalog.table`.

    Attributes:
        columns_schema: Its columns with the types of the reference's SQL.
        shape: How they are put together.
        configured: The options of its catalog.
    """

    def __init__(self, topic: str, configured: Configured, shape: Shape, key: InferredKey, value: SampledTable) -> None:
        self._topic = topic
        self._database = configured.options.database
        self.shape = shape
        self.configured = configured
        self._key = key
        self._value = value
        self.columns_schema = Schema(tuple(each.column for each in shape.columns))
        fields = to_arrow_schema(self.columns_schema)
        self._columns = tuple(_column(each, fields.field(place)) for place, each in enumerate(shape.columns))
        keys = shape.names_of("key")
        self._options = Properties(read_options(topic, configured, keys, key_is_json=shape.key_is_json))

    @property
    def name(self) -> str:
        """The topic."""
        return self._topic

    @property
    def columns(self) -> Sequence[CatalogColumn]:
        """Its columns: those of the key, of the value, then partition, offset and timestamp."""
        return self._columns

    @property
    def inferred(self) -> Mapping[str, InferredColumn]:
        """What the columns of key and value were inferred as, by their names in the table."""
        return {each.column.name: each.inferred for each in self.shape.columns if each.inferred is not None}

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Partition and offset; of an upsert table the columns of the key."""
        return self.shape.primary_key

    @property
    def is_upsert(self) -> bool:
        """Whether a row replaces the earlier ones with the same primary key."""
        return self.shape.is_upsert

    @property
    def options(self) -> Properties:
        """The options by which the data source reads it."""
        return self._options

    @property
    def spark_schema(self) -> StructType:
        """Its columns as Spark has them."""
        from millrace_catalog.types.spark import to_spark_schema

        return to_spark_schema(self.columns_schema)

    def describe(self) -> str:
        """Its columns, and which messages made their types what they are."""
        skipped = self._value.skipped
        count = self._value.messages
        notes = [f"inferred from {count} message{'' if count == 1 else 's'}"]
        if self._key.reason:
            notes.append(f"keys are bytes, since they are not all JSON objects: {self._key.reason}")
        if skipped:
            notes.append(
                f"{len(skipped)} malformed messages were left out, first {skipped[0].position}: {skipped[0].reason}"
            )
        return described(self._topic, self._columns, self.shape, notes)

    def ddl(self) -> str:
        """Its CREATE TABLE statement in the reference's SQL; what is secret is left out."""
        return create_table(self._database, self._topic, self._columns, self.shape, self._options)

    def spark_ddl(self) -> str:
        """Its columns, as ``.schema(...)`` takes them."""
        return spark_ddl(self.columns_schema)

    def json_schema(self) -> str:
        """The JSON Schema of the values of its messages."""
        columns = () if self._value.table is None else self._value.table.columns
        found = ((path, column.type) for column in columns for path in column.paths)
        return json.dumps(to_json_schema(self._topic, found), indent=2, ensure_ascii=False)

    def read(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Its rows: see `CatalogTable.read`."""
        return spark.read.format("millrace").options(**self._with(options)).schema(self.spark_schema).load()

    def read_stream(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Its rows as a stream: see `CatalogTable.read_stream`."""
        return spark.readStream.format("millrace").options(**self._with(options)).schema(self.spark_schema).load()

    def __repr__(self) -> str:
        return f"KafkaJsonTable({self._topic!r}, {self.columns_schema})"

    def _with(self, options: Mapping[str, str] | None) -> dict[str, str]:
        given = {name.lower() for name in options or {}}
        return {
            **{name: value for name, value in self._options.items() if name.lower() not in given},
            **(options or {}),
        }


def _column(shaped: ShapedColumn, field: pa.Field) -> CatalogColumn:
    return CatalogColumn(field, str(shaped.column.type), shaped.part, _evidence(shaped.inferred))


def _evidence(inferred: InferredColumn | None) -> tuple[str, ...]:
    if inferred is None:
        return ()
    if not inferred.evidence:
        return ("option json.rescued-data-column",)
    if inferred.is_fixed:
        return ("option json.infer-schema.fixed-types",)
    return tuple(map(str, inferred.evidence))
