"""Files of parquet, written on the executors."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from millrace_cdc.connectors.table_files.file_system import file_system


def write_parquet(url: str, properties: Mapping[str, str], rows: pa.Table) -> int:
    """Write a file, and return its size in bytes.

    Args:
        url: Its URL.
        properties: Properties that say how to reach it, as of `file_system`.
        rows: Its rows.

    Raises:
        MachineError: The file system is not known.
    """
    import pyarrow.parquet as pq

    files, path = file_system(url, properties)
    if files.type_name == "local":
        files.create_dir(path.rpartition("/")[0], recursive=True)
    with files.open_output_stream(path) as stream:
        # Without Arrow's schema, readers take that of Parquet, which has all that tables have
        pq.write_table(rows, stream, compression="zstd", store_schema=False, store_decimal_as_integer=True)
        return int(stream.tell())
