"""A Kafka topic as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from millrace.contracts import CatalogColumn, CatalogTable
from millrace.errors import SchemaError
from millrace.options.secrets import Properties
from millrace.streams import stream_reader
from millrace.wording import counted
from millrace_catalog.inference import InferredColumn, InferredKey
from millrace_catalog.inference.topic_inference import SampledTable
from millrace_catalog.tables.read_options import quote_java_pattern, read_options
from millrace_catalog.tables.table_schema import TableSchema, TableSchemaColumn
from millrace_catalog.tables.table_text import create_table_statement, describe_table
from millrace_catalog.types import Schema
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_catalog.types.json_schema import to_json_schema
from millrace_catalog.types.spark_ddl import spark_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from millrace_catalog.tables.options import CatalogConfig


class KafkaJsonTable(CatalogTable):
    """A topic with the columns of its newest messages; `KafkaJsonCatalog.table` creates it.

    Attributes:
        columns_schema: Columns with the types of the reference's SQL.
        table_schema: Columns with their parts, and the primary key.
        config: Options of the catalog.
        table_id: Id of the table in a topic with several; None for the whole topic.
    """

    def __init__(
        self,
        topic: str,
        config: CatalogConfig,
        table_schema: TableSchema,
        key: InferredKey,
        value: SampledTable,
        table_id: str | None = None,
    ) -> None:
        self._topic = topic
        self._database = config.database
        self.table_schema = table_schema
        self.config = config
        self.table_id = table_id
        self._key = key
        self._value = value
        self.columns_schema = Schema(tuple(column.column for column in table_schema.columns))
        fields = to_arrow_schema(self.columns_schema)
        unseen = "option json.rescued-data-column" if config.registered is None else "the schema registry"
        self._columns = tuple(
            _column(column, fields.field(place), unseen) for place, column in enumerate(table_schema.columns)
        )
        keys = table_schema.names_of("key")
        self._options = Properties(self._read_options(keys))

    @property
    def name(self) -> str:
        """Name of the topic, or the id of the table in a topic with several."""
        return self._topic if self.table_id is None else self.table_id

    @property
    def columns(self) -> Sequence[CatalogColumn]:
        """Columns of the key, of the value, then partition, offset and timestamp."""
        return self._columns

    @property
    def inferred(self) -> Mapping[str, InferredColumn]:
        """Inferred columns of key and value, by their names in the table."""
        return {
            column.column.name: column.inferred for column in self.table_schema.columns if column.inferred is not None
        }

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Columns of the primary key: partition and offset, or the key columns of an upsert table.

        A changelog table has the one that its messages name, or none where they do not name the same one.
        """
        return self.table_schema.primary_key

    @property
    def is_upsert(self) -> bool:
        """Return whether a row replaces earlier rows with the same primary key."""
        return self.table_schema.is_upsert

    @property
    def options(self) -> Properties:
        """Data source options that read the table."""
        return self._options

    @property
    def spark_schema(self) -> StructType:
        """Columns as a Spark schema."""
        from millrace_catalog.types.spark import to_spark_schema

        return to_spark_schema(self.columns_schema)

    def describe(self) -> str:
        """Describe the columns, with the messages that their types were inferred from."""
        skipped = self._value.skipped
        notes = [f"inferred from {counted(self._value.messages, 'message')}"]
        if self.config.registered is not None:
            notes = ["the columns of values are those of the latest schema in the schema registry"]
        if self._key.reason:
            notes.append(f"keys are bytes, since they are not all JSON objects: {self._key.reason}")
        if skipped:
            first, count = skipped[0], counted(len(skipped), "malformed message")
            notes.append(f"left out {count}, first {first.position}: {first.reason}")
        return describe_table(self.name, self._columns, self.table_schema, notes)

    def ddl(self) -> str:
        """Write the table as a CREATE TABLE statement of the reference's SQL, without secrets."""
        return create_table_statement(self._database, self.name, self._columns, self.table_schema, self._options)

    def spark_ddl(self) -> str:
        """Write the columns as ``.schema(...)`` takes them."""
        return spark_ddl(self.columns_schema)

    def json_schema(self) -> str:
        """Write the JSON Schema of the values of its messages.

        Raises:
            SchemaError: Its messages are changes, around the values.
        """
        if self.table_schema.is_changelog:
            raise SchemaError(
                f"topic {self._topic!r}: the messages of format {self.config.format} are changes, of which there is no "
                f"JSON Schema: describe() and ddl() have the columns of their rows"
            )
        columns = () if self._value.table is None else self._value.table.columns
        paths = ((path, column.type) for column in columns for path in column.paths)
        return json.dumps(to_json_schema(self._topic, paths), indent=2, ensure_ascii=False)

    def read(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Read its rows: see `CatalogTable.read`."""
        return spark.read.format("millrace").options(**self._merged_options(options)).schema(self.spark_schema).load()

    def read_stream(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Read its rows as a stream: see `CatalogTable.read_stream`."""
        return (
            stream_reader(spark, self.name)
            .format("millrace")
            .options(**self._merged_options(options))
            .schema(self.spark_schema)
            .load()
        )

    def __repr__(self) -> str:
        return f"KafkaJsonTable({self.name!r}, {self.columns_schema})"

    def _read_options(self, keys: Sequence[str]) -> dict[str, str]:
        options = read_options(self._topic, self.config, keys, key_is_json=self.table_schema.key_is_json)
        if self.table_id is not None:
            options["json.decode.parser-table-id.fields"] = ",".join(self.config.json.table_fields)
            options["json.table.include"] = quote_java_pattern(self.table_id)
        return options

    def _merged_options(self, options: Mapping[str, str] | None) -> dict[str, str]:
        overridden = {name.lower() for name in options or {}}
        return {
            **{name: value for name, value in self._options.items() if name.lower() not in overridden},
            **(options or {}),
        }


def _column(source: TableSchemaColumn, field: pa.Field, unseen: str) -> CatalogColumn:
    return CatalogColumn(field, str(source.column.type), source.part, _evidence(source.inferred, unseen))


def _evidence(inferred: InferredColumn | None, unseen: str) -> tuple[str, ...]:
    """Return the reasons for a column's type; ``unseen`` is that of one that no message has shown."""
    if inferred is None:
        return ()
    if not inferred.evidence:
        return (unseen,)
    if inferred.is_fixed:
        return ("option json.infer-schema.fixed-types",)
    return tuple(map(str, inferred.evidence))
