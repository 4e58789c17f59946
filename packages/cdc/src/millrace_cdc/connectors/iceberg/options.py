"""The options of Iceberg as a sink of pipelines, with the names of Flink CDC's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from millrace.options import option
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, parse_partition_field


def parse_partition_keys(text: str) -> tuple[tuple[str, tuple[PartitionField, ...]], ...]:
    """Parse ``db.t1:country;db.t2:day(created),id`` into tables and the fields of their partitions.

    Raises:
        ValueError: A part is no table with partition keys.
    """
    fields_by_table: dict[str, tuple[PartitionField, ...]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        table, colon, keys = part.partition(":")
        if not (table.strip() and colon and keys.strip()):
            raise ValueError("expected tables and their partition keys, such as shop.orders:country;shop.users:day(at)")
        if table.strip() in fields_by_table:
            raise ValueError(f"table {table.strip()!r} is named twice")
        fields_by_table[table.strip()] = tuple(parse_partition_field(key) for key in keys.split(","))
    return tuple(fields_by_table.items())


@dataclass(frozen=True, kw_only=True)
class IcebergSinkOptions:
    """The options of Iceberg as a sink of pipelines."""

    catalog: str | None = option(
        "catalog",
        default=None,
        doc="The name of a catalog in Spark's settings: the sink uses spark.sql.catalog.<name>.* (an addition). "
        "Set either this or catalog.properties.*.",
    )
    catalog_properties: tuple[tuple[str, str], ...] = option(
        "catalog.properties.*",
        default=(),
        is_hidden=True,
        doc="Properties of the catalog: type (hadoop, hive, rest, jdbc, glue) or catalog-impl, warehouse, uri, io-impl "
        "and all others of Iceberg.",
    )
    table_properties: tuple[tuple[str, str], ...] = option(
        "table.properties.*",
        default=(),
        doc="Properties of tables that the sink creates. table-options of a transform take precedence.",
    )
    hadoop_conf: tuple[tuple[str, str], ...] = option(
        "hadoop.conf.*",
        default=(),
        is_hidden=True,
        doc="Settings of Hadoop for the catalog, in addition to those of the session.",
    )
    partition_keys: tuple[tuple[str, tuple[PartitionField, ...]], ...] = option(
        "partition.key",
        default=(),
        parse=parse_partition_keys,
        doc="Partitions of tables that the sink creates, as shop.orders:country;shop.users:day(created). Besides "
        "day, there are year, month, hour and truncate[width]. Tables that are not listed have the partition-keys of "
        "their transform.",
    )
    delete_file_warning: Annotated[int, Gt(0)] = option(
        "sink.delete-files.warning",
        default=100,
        doc="From this number of delete files on, the log recommends compacting a table, again whenever it has doubled "
        "(an addition).",
    )
    small_file_warning: Annotated[int, Gt(0)] = option(
        "sink.small-files.warning",
        default=1_000,
        doc="From this number of data files on, of less than 16 MiB on average, the log recommends compacting a "
        "table, again whenever it has doubled (an addition).",
    )
