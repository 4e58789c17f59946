"""A catalog of Iceberg on the driver, through Iceberg's library in the session's JVM.

Only its core is used: its plugin of Spark does not run on all versions of Spark that pipelines run on.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from millrace.contracts import PipelineTable
from millrace.errors import MachineError, SchemaError
from millrace.options.secrets import is_secret, without_values
from millrace_catalog.jvm import hadoop_configuration, session_jvm
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_cdc.connectors.dropped_targets import check_columns, missing_table
from millrace_cdc.connectors.iceberg.file_writer import IcebergTarget
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, check_fields
from millrace_cdc.connectors.iceberg.row_reading import rows_as_file
from millrace_cdc.connectors.iceberg.schema import arrow_schema, iceberg_schema, widened
from millrace_cdc.connectors.iceberg.transient_errors import is_transient
from millrace_cdc.connectors.table_files.file_system import FILE_PROPERTIES
from millrace_cdc.table_id import table_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
_DEFAULT_NAMESPACE = "default"
_BATCH = "millrace.batch."
"""Property of a table: the last micro-batch of each pipeline, set in the commit of its files."""

_TOTALS = ("delete-files", "data-files", "files-size")
_NEWEST_FORMAT = 2
_TABLE_DEFAULTS = {"format-version": str(_NEWEST_FORMAT)}


@dataclass(frozen=True)
class CommitSummary:
    """The result of a commit.

    Attributes:
        delete_files: The number of delete files that the table has.
        data_files: The number of its data files.
        size: The size of all of them, in bytes.
    """

    delete_files: int
    data_files: int
    size: int


class IcebergCatalog:
    """A catalog.

    Args:
        spark: A classic session.
        properties: Its properties.
        hadoop: Settings of Hadoop, beside those of the session.

    Attributes:
        jvm: The session's JVM.

    Raises:
        MachineError: The session lacks Iceberg's library.
        TableSinkError: The catalog refuses, or cannot be reached.
    """

    def __init__(self, spark: SparkSession, properties: Mapping[str, str], hadoop: Mapping[str, str]) -> None:
        self.jvm = jvm = session_jvm(spark, "sink iceberg")
        self._iceberg = jvm.org.apache.iceberg
        if isinstance(self._iceberg.CatalogUtil, JavaPackage):
            raise MachineError(
                f"sink iceberg needs Iceberg's library in the session's JVM: start it with --conf "
                f"spark.jars.packages={PACKAGE}"
            )
        self._secrets = [value for name, value in (*properties.items(), *hadoop.items()) if is_secret(name)]
        configuration = hadoop_configuration(spark, hadoop)
        self._file_properties = {name: configuration.get(name) for name in FILE_PROPERTIES}
        self._tables: dict[str, IcebergTable] = {}
        # Each step of making one is a round trip to the JVM
        self._identifier = functools.cache(self._new_identifier)
        self._creating = Lock()
        with self.errors("the catalog cannot be opened"):
            self._catalog = self._iceberg.CatalogUtil.buildIcebergCatalog("millrace", dict(properties), configuration)

    def table(self, id_: str) -> IcebergTable | None:
        """Return a table, if there is one."""
        table = self._tables.get(id_)
        if table is None:
            with self.errors(f"table {id_!r} cannot be read"):
                identifier = self._identifier(id_)
                if self._catalog.tableExists(identifier):
                    table = self._keep(id_, self._catalog.loadTable(identifier))
        return table

    def exists(self, id_: str) -> bool:
        """Return whether there is a table now."""
        with self.errors(f"table {id_!r} cannot be read"):
            return bool(self._catalog.tableExists(self._identifier(id_)))

    def name(self, id_: str) -> str:
        """Return the name of a table in the catalog."""
        return str(self._identifier(id_).toString())

    def create(
        self, table: PipelineTable, partition: Sequence[PartitionField], properties: Mapping[str, str]
    ) -> IcebergTable:
        """Create a table, with an empty partition spec as its first one."""
        schema = iceberg_schema(table)
        check_fields(arrow_schema(schema), partition, table.id)
        with self.errors(f"table {table.id!r} cannot be created"):
            identifier = self._identifier(table.id)
            self._create_namespace(identifier.namespace())
            builder = self._catalog.buildTable(identifier, self._iceberg.SchemaParser.fromJson(json.dumps(schema)))
            for name, value in {**_TABLE_DEFAULTS, **properties}.items():
                builder = builder.withProperty(name, value)
            transaction = builder.createTransaction()
            if partition:
                self._set_partition(transaction, partition)
            transaction.commitTransaction()
            return self._keep(table.id, self._catalog.loadTable(identifier))

    def _create_namespace(self, namespace: Any) -> None:
        # Tables are created by several threads
        with self._creating:
            if not self._catalog.namespaceExists(namespace):
                self._catalog.createNamespace(namespace)

    def _set_partition(self, transaction: Any, fields: Sequence[PartitionField]) -> None:
        terms = self._iceberg.expressions.Expressions
        update = transaction.updateSpec()
        for field in fields:
            name, _, width = field.transform.rstrip("]").partition("[")
            if name == "identity":
                update = update.addField(field.column)
            else:
                term = getattr(terms, name)(field.column, *([int(width)] if width else []))
                update = update.addField(term)
        update.commit()

    def _keep(self, id_: str, java: Any) -> IcebergTable:
        self._tables[id_] = IcebergTable(self, self._iceberg, id_, java)
        return self._tables[id_]

    def _new_identifier(self, id_: str) -> Any:
        *namespace, name = table_id(id_).parts
        namespace = namespace or [_DEFAULT_NAMESPACE]
        text = self.jvm.java.lang.Class.forName("java.lang.String")
        levels = self.jvm.java.lang.reflect.Array.newInstance(text, len(namespace))
        for index, level in enumerate(namespace):
            levels[index] = level
        return self._iceberg.catalog.TableIdentifier.of(self._iceberg.catalog.Namespace.of(levels), name)

    def file_properties(self, java_table: Any) -> tuple[tuple[str, str], ...]:
        """Return the properties by which executors reach a table's files."""
        properties = self._file_properties | dict(java_table.io().properties())
        return tuple((name, str(properties[name])) for name in FILE_PROPERTIES if properties.get(name))

    @contextmanager
    def errors(self, problem: str) -> Iterator[None]:
        """Translate errors of the JVM, for a ``with`` block.

        Raises:
            TableSinkError: There was one.
        """
        try:
            yield
        except (Py4JJavaError, PySparkException) as error:
            # PySpark has exceptions of its own for some of Java's
            java = getattr(error, "java_exception", None)
            text = str(error) if java is None else f"{java.getClass().getSimpleName()}: {java.getMessage()}"
            failure = TableSinkError(f"Iceberg: {problem}: {without_values(text, self._secrets)}")
            failure.is_transient = java is not None and is_transient(java)
            raise failure from None


class IcebergTable:
    """A table of a catalog.

    Args:
        catalog: The catalog.
        iceberg: Iceberg's package in the JVM.
        id_: The table's id.
        java: The table in the JVM.
    """

    def __init__(self, catalog: IcebergCatalog, iceberg: Any, id_: str, java: Any) -> None:
        self._catalog = catalog
        self._iceberg = iceberg
        self._id = id_
        self._java = java
        self._target: tuple[tuple[int, int], IcebergTarget] | None = None

    def widen(self, table: PipelineTable) -> None:
        """Add columns that the table lacks, and make narrower ones wider, in one commit; others stay."""
        with self._catalog.errors(f"the columns of table {self._id!r} cannot be changed"):
            self._java.refresh()
            union = self._iceberg.SchemaParser.fromJson(json.dumps(widened(self._schema(), iceberg_schema(table))))
            update = self._java.updateSchema().unionByNameWith(union)
            if not update.apply().sameSchema(self._java.schema()):
                update.commit()

    def check(self, table: PipelineTable) -> None:
        """Check that a pipeline can write to a table that was there before it.

        Raises:
            SchemaError: It cannot.
        """
        schema = self._schema()
        names = {field.name for field in table.schema}
        stored = [field["name"] for field in schema["fields"]]
        check_case(tuple(dict.fromkeys((*stored, *table.schema.names))), f"table {self._id!r}")
        required = [field["name"] for field in schema["fields"] if field["required"] and field["name"] not in names]
        if required:
            raise SchemaError(
                f"Iceberg: table {self._id!r} has NOT NULL columns that the pipeline has not: {', '.join(required)}"
            )
        columns = arrow_schema(schema)
        check_fields(columns, self._partition(schema), self._id)
        if self._format_version() > _NEWEST_FORMAT or (self._format_version() < _NEWEST_FORMAT and table.primary_key):
            raise SchemaError(
                f"Iceberg: table {self._id!r} has format version {self._format_version()}, and pipelines write version "
                f"{_NEWEST_FORMAT}"
            )

    def last_batch(self, pipeline: str) -> int | None:
        """Return the last micro-batch of a pipeline that the table has."""
        with self._catalog.errors(f"table {self._id!r} cannot be read"):
            self._java.refresh()
            last = self._java.properties().get(_BATCH + pipeline)
        return None if last is None else int(last)

    def rows_with(
        self, key: Sequence[str], columns: Collection[str], values: Mapping[str, Collection[Any]]
    ) -> bytes | None:
        """Return rows of the table, as a file of Parquet: some of the columns of those that have some values, if any.

        Iceberg reads them on the driver, where its library is.

        Args:
            key: The columns of the primary key.
            columns: Other columns.
            values: By column, the values of the rows to return, as Iceberg's expressions take them.
        """
        with self._catalog.errors(f"table {self._id!r} cannot be read"):
            self._java.refresh()
            return rows_as_file(self._catalog.jvm, self._java, [*key, *columns], values)

    def target(self, key: tuple[str, ...]) -> IcebergTarget:
        """Return the table as executors need it."""
        with self._catalog.errors(f"table {self._id!r} cannot be read"):
            version = (self._java.schema().schemaId(), self._java.spec().specId())
            is_empty = self._java.currentSnapshot() is None
            if self._target is None or self._target[0] != version or self._target[1].is_empty != is_empty:
                self._target = version, self._make_target(key, is_empty)
            return self._target[1]

    def _make_target(self, key: tuple[str, ...], is_empty: bool) -> IcebergTarget:
        text = self._iceberg.SchemaParser.toJson(self._java.schema())
        properties = self._java.properties()
        location = properties.get("write.data.path") or f"{self._java.location().rstrip('/')}/data"
        return IcebergTarget(
            text,
            key,
            location,
            self._catalog.file_properties(self._java),
            self._java.spec().specId(),
            self._partition(json.loads(text)),
            self._spec_of_all_partitions() if key else -1,
            is_empty,
        )

    def _partition(self, schema: Mapping[str, Any]) -> tuple[PartitionField, ...]:
        names = {field["id"]: field["name"] for field in schema["fields"]}
        spec = json.loads(self._iceberg.PartitionSpecParser.toJson(self._java.spec()))
        return tuple(
            PartitionField(names.get(field["source-id"], f"with id {field['source-id']}"), field["transform"])
            for field in spec["fields"]
        )

    def _spec_of_all_partitions(self) -> int:
        """Return the id of a spec without fields; delete files of it are for all partitions."""
        for id_, spec in dict(self._java.specs()).items():
            if spec.isUnpartitioned():
                return int(id_)
        # Made by leaving all partitions and coming back to them, in one commit
        spec = json.loads(self._iceberg.PartitionSpecParser.toJson(self._java.spec()))
        names = {field["id"]: field["name"] for field in self._schema()["fields"]}
        transaction = self._java.newTransaction()
        update = transaction.updateSpec()
        for field in spec["fields"]:
            update = update.removeField(field["name"])
        update.commit()
        fields = [PartitionField(names[field["source-id"]], field["transform"]) for field in spec["fields"]]
        self._catalog._set_partition(transaction, fields)
        transaction.commitTransaction()
        self._java.refresh()
        return self._spec_of_all_partitions()

    def _schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = json.loads(self._iceberg.SchemaParser.toJson(self._java.schema()))
        return schema

    def _format_version(self) -> int:
        return int(self._java.operations().current().formatVersion())

    def check_columns(self, columns: Iterable[str]) -> None:
        """Check that the table has columns that it had.

        Raises:
            SchemaError: Somebody has dropped one.
        """
        check_columns(self._id, columns, [field["name"] for field in self._schema()["fields"]])

    def _check_written(self, schema: Any, columns: Sequence[str]) -> None:
        """Check that the columns of files, which are known by their ids, are still those of the table."""
        if self._target is None or schema.schemaId() == self._target[0][0]:
            return
        now, then = (
            {field["name"]: field["id"] for field in json.loads(text)["fields"]}
            for text in (self._iceberg.SchemaParser.toJson(schema), self._target[1].schema)
        )
        check_columns(self._id, columns, [name for name, id_ in now.items() if then.get(name) == id_])

    def commit(
        self,
        entries: Sequence[Mapping[str, Any]],
        columns: Sequence[str],
        pipeline: str,
        batch: int,
        *,
        truncates: bool = False,
    ) -> CommitSummary | None:
        """Commit the files of a micro-batch, and its number, in one commit; None when the table has the micro-batch.

        Args:
            entries: The entries of its files.
            columns: The columns that rows have.
            pipeline: The id of the pipeline.
            batch: The number of the micro-batch.
            truncates: Whether all earlier rows are deleted.

        Raises:
            SchemaError: The table, or one of the columns, has been dropped.
            TableSinkError: The catalog refused.
        """
        try:
            return self._commit(entries, columns, pipeline, batch, truncates=truncates)
        except TableSinkError:
            if not self._catalog.exists(self._id):
                name = self._catalog.name(self._id)
                raise missing_table(self._id, f"{name} in the catalog, which does not have it") from None
            raise

    def _commit(
        self,
        entries: Sequence[Mapping[str, Any]],
        columns: Sequence[str],
        pipeline: str,
        batch: int,
        *,
        truncates: bool,
    ) -> CommitSummary | None:
        with self._catalog.errors(f"table {self._id!r} cannot be written"):
            # 1. The table as it is now
            transaction = self._java.newTransaction()
            last = transaction.table().properties().get(_BATCH + pipeline)
            if last is not None and int(last) >= batch:
                return None
            self._check_written(transaction.table().schema(), columns)
            # 2. The number of the micro-batch, which outlives the snapshot
            transaction.updateProperties().set(_BATCH + pipeline, str(batch)).commit()
            if truncates:
                everything = self._iceberg.expressions.Expressions.alwaysTrue()
                transaction.newDelete().deleteFromRowFilter(everything).commit()
            # 3. Data and delete files, in one snapshot
            delta = transaction.newRowDelta().set("millrace.pipeline", pipeline).set("millrace.batch", str(batch))
            specs, read_json = transaction.table().specs(), self._iceberg.util.JsonUtil.mapper().readTree
            for entry in entries:
                file = self._iceberg.ContentFileParser.fromJson(read_json(json.dumps(entry)), specs)
                delta = delta.addRows(file) if entry["content"] == "DATA" else delta.addDeletes(file)
            delta.commit()
            # 4. All or nothing
            transaction.commitTransaction()
            summary = self._java.currentSnapshot().summary()
            return CommitSummary(*(int(summary.get(f"total-{name}") or 0) for name in _TOTALS))
