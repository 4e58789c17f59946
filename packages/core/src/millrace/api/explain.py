"""Explain how the messages of a read become rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.configuration.build import configure_source
from millrace.source.reader.decoding_plan import explain_decoding
from millrace.spark.ddl import parse_ddl
from millrace.spark.schema import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def explain_decode(options: Mapping[str, str], schema: StructType | str) -> str:
    """Explain whether messages are decoded in batches or one by one, and why. It reads no messages.

    Args:
        options: The options of the read.
        schema: The columns: a Spark schema, or text such as ``id BIGINT, name STRING``.

    Returns:
        A line for the values and, with a format of keys, one for the keys.

    Raises:
        OptionsError: Options are invalid; the message lists all problems.
        SchemaError: The schema is no list of columns, or a format cannot produce one of the columns.
    """
    columns = parse_ddl(schema) if isinstance(schema, str) else schema
    explanations = explain_decoding(configure_source(options), arrow_schema(columns))
    return "\n".join(f"{part}: {text}" for part, text in explanations.items())
