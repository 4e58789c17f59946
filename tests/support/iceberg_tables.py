"""Tables of Iceberg, as its own reader has them, in a JVM without Spark."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, JavaObject, launch_gateway

from millrace_broker.java import find_java
from millrace_cdc.connectors.iceberg.catalog import PACKAGE
from support.maven import jar_of


class IcebergTables:
    """The tables of a catalog of type hadoop; the JVM ends with the ``with`` block.

    Args:
        warehouse: The folder of the catalog.
    """

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def __enter__(self) -> Self:
        jars = jar_of(PACKAGE)
        spark = Path(pyspark.__file__).parent / "jars"
        port, token = launch_gateway(
            jarpath=str(next(spark.glob("py4j-*.jar"))),
            classpath=":".join(map(str, [*jars, spark / "*"])),
            javaopts=["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"],
            java_path=str(find_java().path),
            die_on_exit=True,
            enable_auth=True,
        )
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True)
        )
        self._iceberg = self._gateway.jvm.org.apache.iceberg
        settings = self._gateway.jvm.org.apache.hadoop.conf.Configuration()
        self._catalog = self._iceberg.hadoop.HadoopCatalog(settings, str(self._warehouse))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gateway.shutdown()

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table, whose name has its namespace in front."""
        table = self._catalog.loadTable(self._iceberg.catalog.TableIdentifier.parse(name))
        columns = [each["name"] for each in json.loads(self._iceberg.SchemaParser.toJson(table.schema()))["fields"]]
        rows = self._iceberg.data.IcebergGenerics.read(table).build().iterator()
        found = []
        while rows.hasNext():
            row = rows.next()
            found.append({column: _value(row.getField(column)) for column in columns})
        return found


def _value(value: Any) -> Any:
    """Return a value as Python has it."""
    if isinstance(value, bytearray):
        return bytes(value)
    if not isinstance(value, JavaObject):
        return value
    kind = value.getClass().getSimpleName()
    if kind == "LocalDate":
        return date.fromisoformat(value.toString())
    if kind in ("LocalDateTime", "OffsetDateTime"):
        return datetime.fromisoformat(value.toString())
    if kind == "HeapByteBuffer":
        return bytes(value.array())
    assert kind.endswith("List"), kind
    return [_value(value[index]) for index in range(len(value))]
