"""Readers of messages in Java that know nothing of millrace: of Flink, Kafka Connect and Canal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from support.maven import Artifact, fetch_jars

_FLINK = "1.20.3"
# Without what they depend on for running jobs, which is forty more
_FLINK_ARTIFACTS = (
    *(
        Artifact("org.apache.flink", f"flink-{name}", _FLINK, is_alone=True)
        for name in ("annotations", "core", "core-api", "json", "table-api-java", "table-common", "table-runtime")
    ),
    Artifact("org.apache.flink", "flink-shaded-guava", "31.1-jre-17.0", is_alone=True),
    Artifact("org.apache.flink", "flink-shaded-jackson", "2.14.2-17.0", is_alone=True),
)
_CANAL_ARTIFACTS = (
    Artifact("com.alibaba.otter", "canal.protocol", "1.1.8", is_alone=True),
    Artifact("com.google.protobuf", "protobuf-java", "3.6.1", is_alone=True),
)


_loaders: dict[tuple[Any, tuple[Path, ...]], Any] = {}
"""Loaders of classes, by JVM and jars: Py4J finds the methods of a class once, and classes are those of one loader."""


@contextmanager
def _jvm_with(spark: SparkSession, jars: Sequence[Path], *, is_isolated: bool = False) -> Iterator[Any]:
    context = spark.sparkContext
    jvm = context._jvm
    thread = jvm.java.lang.Thread.currentThread()
    sparks_own = thread.getContextClassLoader()
    place = context._gateway, tuple(jars)
    if place not in _loaders:
        urls = context._gateway.new_array(jvm.java.net.URL, len(jars))
        for index, jar in enumerate(jars):
            urls[index] = jvm.java.io.File(str(jar)).toURI().toURL()
        parent = jvm.java.lang.ClassLoader.getPlatformClassLoader() if is_isolated else sparks_own
        _loaders[place] = jvm.java.net.URLClassLoader(urls, parent)
    thread.setContextClassLoader(_loaders[place])
    try:
        yield jvm
    finally:
        thread.setContextClassLoader(sparks_own)


def read_by_flink(spark: SparkSession, format_: str, type_: str, messages: Iterable[bytes]) -> list[str]:
    """Read messages by Flink's debezium-json or canal-json, and return rows as Flink prints them.

    Args:
        spark: A session, whose JVM is used.
        format_: The format.
        type_: The type of rows, as ``ROW<id BIGINT, ...>`` in Flink's SQL.
        messages: The messages.
    """
    with _jvm_with(spark, fetch_jars(f"flink-json-{_FLINK}", _FLINK_ARTIFACTS)) as jvm:
        flink = jvm.org.apache.flink
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        logical = flink.table.types.logical.utils.LogicalTypeParser.parse(type_, loader)
        data_type = flink.table.types.utils.TypeConversions.fromLogicalToDataType(logical)
        information = flink.table.runtime.typeutils.InternalTypeInfo.of(logical)
        times = flink.formats.common.TimestampFormat.SQL
        nothing = jvm.java.util.ArrayList()
        if format_ == "debezium-json":
            reader = flink.formats.json.debezium.DebeziumJsonDeserializationSchema(
                data_type, nothing, information, False, False, times
            )
        else:
            builder = flink.formats.json.canal.CanalJsonDeserializationSchema.builder(data_type, nothing, information)
            reader = builder.setIgnoreParseErrors(False).setTimestampFormat(times).build()
        reader.open(None)
        converter = flink.table.data.conversion.DataStructureConverters.getConverter(data_type)
        converter.open(loader)
        rows = jvm.java.util.ArrayList()
        collector = flink.api.common.functions.util.ListCollector(rows)
        for message in messages:
            reader.deserialize(message, collector)
        return [f"{row.getRowKind().shortString()}{converter.toExternal(row).toString()[2:]}" for row in rows]


def read_by_connect(spark: SparkSession, jars: Sequence[Path], message: bytes) -> Any:
    """Read a message with schema by Kafka Connect's JsonConverter, and return what Connect has of it as text."""
    with _jvm_with(spark, jars) as jvm:
        converter = jvm.org.apache.kafka.connect.json.JsonConverter()
        converter.configure(jvm.java.util.HashMap(), False)
        return converter.toConnectData("t", message).value().toString()


Change = tuple[dict[str, Any], list[list[dict[str, Any]]]]


def read_by_canal(spark: SparkSession, messages: Iterable[bytes]) -> list[Change]:
    """Read packets by Canal's classes: of each what its header names, and the columns of the rows before and after."""
    gateway = spark.sparkContext._gateway
    with _jvm_with(spark, fetch_jars("canal-protocol-1.1.8", _CANAL_ARTIFACTS), is_isolated=True) as jvm:
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        types, arguments = gateway.new_array(jvm.java.lang.Class, 1), gateway.new_array(jvm.java.lang.Object, 1)
        types[0] = jvm.java.lang.Class.forName("[B")

        def parse(name: str, content: Any) -> Any:
            named = jvm.java.lang.Class.forName(f"com.alibaba.otter.canal.protocol.{name}", True, loader)
            arguments[0] = content
            return named.getMethod("parseFrom", types).invoke(None, arguments)

        return [_change(parse, message) for message in messages]


def _change(parse: Callable[[str, Any], Any], message: bytes) -> Change:
    packet = parse("CanalPacket$Packet", message)
    assert packet.getType().toString() == "MESSAGES"
    messages = parse("CanalPacket$Messages", packet.getBody().toByteArray())
    assert messages.getMessagesCount() == 1
    entry = parse("CanalEntry$Entry", messages.getMessages(0).toByteArray())
    change = parse("CanalEntry$RowChange", entry.getStoreValue().toByteArray())
    assert (entry.getEntryType().toString(), change.getIsDdl(), change.getRowDatasCount()) == ("ROWDATA", False, 1)
    header, row = entry.getHeader(), change.getRowDatas(0)
    type_ = header.getEventType().toString()
    assert change.getEventType().toString() == type_
    sides = (row.getBeforeColumnsList(), row.getAfterColumnsList())
    columns = [[_column(side.get(index)) for index in range(side.size())] for side in sides]
    return {"database": header.getSchemaName(), "table": header.getTableName(), "type": type_}, columns


def _column(column: Any) -> dict[str, Any]:
    return {
        "index": column.getIndex(),
        "name": column.getName(),
        "sqlType": column.getSqlType(),
        "mysqlType": column.getMysqlType(),
        "isKey": column.getIsKey(),
        "updated": column.getUpdated(),
        "value": None if column.getIsNull() else column.getValue(),
    }
