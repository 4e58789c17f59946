"""Check a table of Kafka's connectors when it is created, without asking its cluster."""

from __future__ import annotations

from millrace.errors import OptionsError
from millrace_sql.connectors.kafka.data_source_options import KafkaTable, format_metadata
from millrace_sql.connectors.kafka.metadata import columns_to_read, columns_to_write


def check_table(kafka: KafkaTable) -> None:
    """Check options, and the keys and types of metadata columns, for reads and writes alike.

    Raises:
        OptionsError, SchemaError: Something is wrong in either case.
    """
    kafka.check()
    try:
        _, config = kafka.source_config({})
    except OptionsError:
        # Such a table can only be written
        columns_to_write(kafka.table)
    else:
        columns_to_read(kafka.table, format_metadata(config))
