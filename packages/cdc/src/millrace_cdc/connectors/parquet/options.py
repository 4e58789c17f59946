"""The options of folders of parquet files as a sink of pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option
from millrace_cdc.connectors.missing_old_rows import missing_old_rows_option


@dataclass(frozen=True, kw_only=True)
class ParquetSinkOptions:
    """The options of folders of parquet files as a sink of pipelines."""

    path: str = option(
        "path", doc="The folder of all tables, in any of Hadoop's file systems; each has a folder with its id as name."
    )
    row_kind_column: str = option(
        "row-kind-column", default="row_kind", doc="The column with the kind of a row: +I, -U, +U or -D."
    )
    position_prefix: str = option(
        "position-columns.prefix",
        default="__",
        doc="The prefix of the columns with the topic, partition, offset and timestamp of a row's message.",
    )
    updates_without_old_row: Literal["fail", "write"] = missing_old_rows_option()
