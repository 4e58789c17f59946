"""The options of Delta Lake as a sink of pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from millrace.options import option


@dataclass(frozen=True, kw_only=True)
class DeltaSinkOptions:
    """The options of Delta Lake as a sink of pipelines."""

    path: str = option(
        "path",
        doc="The folder of all tables, such as /lake or s3://bucket/lake: table shop.orders is in its folder "
        "shop/orders.",
    )
    storage: tuple[tuple[str, str], ...] = option(
        "storage.*", default=(), is_hidden=True, doc="Any option of the storage, such as storage.aws_access_key_id."
    )
    parallelism: Annotated[int, Gt(0)] = option(
        "sink.parallelism", default=4, doc="The number of tables that are written at the same time."
    )
    small_file_warning: Annotated[int, Gt(0)] = option(
        "sink.small-files.warning",
        default=1_000,
        doc="From this number of files on, of less than 16 MiB on average, the log recommends compacting a table, "
        "again whenever it has doubled.",
    )
