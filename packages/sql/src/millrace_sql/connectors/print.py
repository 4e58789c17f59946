"""The connector print: a sink that prints its rows on the driver."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Gt

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode, SinkContext, TableDescription, TableFactory, TableSink
from millrace.options import option
from millrace_catalog.jvm import require_own_driver
from millrace_sql.connectors.rows import physical_rows, refuse_metadata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.types import DataType, StructType

_TASK = "__task"


@dataclass(frozen=True)
class PrintOptions:
    """Options of a table that prints."""

    identifier: str = option("print-identifier", default="", doc="A prefix for each row: identifier> +I[1, a].")
    is_error: bool = option("standard-error", default=False, doc="Print to standard error instead of standard output.")
    parallelism: Annotated[int, Gt(0)] | None = option(
        "sink.parallelism",
        default=None,
        doc="The number of tasks into which rows are divided. With more than one, each row is preceded by the number "
        "of its task, such as 2>.",
    )


class PrintSink(TableSink):
    """Sink that prints rows, with their kinds, as Flink does.

    Args:
        table: The table.
        options: Its options.
    """

    def __init__(self, table: TableDescription, options: PrintOptions) -> None:
        self._table = table
        self._options = options

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows."""
        return ChangelogMode.ALL

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Print the rows in their order, without holding more than a task's rows at a time."""
        from pyspark.sql import functions as fn

        kinds = fn.col(ROW_KIND_COLUMN) if ROW_KIND_COLUMN in rows.columns else fn.lit("+I")
        columns = physical_rows(rows, self._table).columns
        printed = rows.select(
            kinds.alias(ROW_KIND_COLUMN), *(fn.col(f"`{name.replace('`', '``')}`") for name in columns)
        )
        if self._options.parallelism is not None:
            printed = printed.repartition(self._options.parallelism)
        printed = printed.withColumn(_TASK, fn.spark_partition_id())
        stream = sys.stderr if self._options.is_error else sys.stdout
        for line in self._lines(printed):
            stream.write(f"{line}\n")
        stream.flush()

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that prints rows in this process.

        Raises:
            MachineError: It is a session of Spark Connect, whose server would print them.
        """
        require_own_driver(rows.sparkSession, "the connector 'print'")
        return super().start(rows, sink)

    def _lines(self, rows: DataFrame) -> Iterator[str]:
        # By place, since columns may have the names of attributes of a row
        types = [field.dataType for field in rows.schema][1:-1]
        for row in rows.toLocalIterator(prefetchPartitions=True):
            kind, *values, task = row
            yield f"{self._prefix(task)}{kind}[{_joined(values, types)}]"

    def _prefix(self, task: int) -> str:
        parts = [self._options.identifier] if self._options.identifier else []
        if (self._options.parallelism or 1) > 1:
            parts.append(str(task + 1))
        return f"{':'.join(parts)}> " if parts else ""


class PrintTableFactory(TableFactory):
    """Tables with ``'connector' = 'print'``, which can only be written."""

    TableOptions = PrintOptions

    def check(self, table: TableDescription) -> None:
        """Check options and columns: see `TableFactory.check`."""
        self.sink(table)

    def sink(self, table: TableDescription) -> PrintSink:
        """Return the sink."""
        refuse_metadata(table, "print")
        return PrintSink(table, self.parse_options(table))


def _joined(values: Any, types: list[DataType]) -> str:
    return ", ".join(as_text(value, type_) for value, type_ in zip(values, types, strict=True))


def as_text(value: Any, type_: DataType) -> str:
    """Write a value as Flink prints it, with the texts of Java's classes."""
    from pyspark.sql import types as sql

    if value is None:
        return "null"
    if isinstance(type_, sql.StructType):
        return f"+I[{_fields(value, type_)}]"
    if isinstance(type_, sql.ArrayType):
        return f"[{', '.join(as_text(array_value, type_.elementType) for array_value in value)}]"
    if isinstance(type_, sql.MapType):
        entries = (
            f"{as_text(key, type_.keyType)}={as_text(map_value, type_.valueType)}" for key, map_value in value.items()
        )
        return f"{{{', '.join(entries)}}}"
    if isinstance(value, datetime) and isinstance(type_, sql.TimestampType):
        instant = value.astimezone(UTC)
        return f"{instant.date().isoformat()}T{_clock(instant.time(), 'seconds')}Z"
    if isinstance(type_, sql.FloatType):
        import numpy as np

        value = float(str(np.float32(value)))
    return _scalar(value)


def _fields(row: Row, type_: StructType) -> str:
    return _joined(row, [field.dataType for field in type_])


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes | bytearray):
        # Java's bytes are signed
        return f"[{', '.join(str(byte - 256 if byte > 127 else byte) for byte in value)}]"
    if isinstance(value, datetime):
        return f"{value.date().isoformat()}T{_clock(value.time())}"
    if isinstance(value, time):
        return _clock(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return _double(value) if isinstance(value, float) else str(value)


def _clock(value: time, least: str = "minutes") -> str:
    """Write a time as java.time does: seconds only if they are not zero, and 3 or 6 digits of their fraction."""
    if value.microsecond:
        return value.replace(tzinfo=None).isoformat("microseconds").removesuffix("000")
    return value.replace(tzinfo=None).isoformat("seconds" if value.second else least)


def _double(value: float) -> str:
    """Write a number as Java's Double.toString does."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = f"{Decimal(repr(value)):f}"
        return text if "." in text else f"{text}.0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    mantissa = f"{digits[0]}.{''.join(map(str, digits[1:])) or '0'}"
    return f"{'-' if sign else ''}{mantissa}E{int(exponent) + len(digits) - 1}"
