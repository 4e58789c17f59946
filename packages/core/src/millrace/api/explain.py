"""Explain how the messages of a read become rows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import StructType

from millrace.configuration.build import configure_source
from millrace.source.reader.decoding_plan import explain_decoding
from millrace.spark.schema import arrow_schema


def explain_decode(options: Mapping[str, str], schema: StructType | str) -> str:
    """Explain whether messages are decoded in batches or one by one, and why. It reads no messages.

    Args:
        options: The options of the read.
        schema: The columns: a Spark schema, or text such as ``id BIGINT, name STRING``, which needs an active session.

    Returns:
        A line for the values and, with a format of keys, one for the keys.

    Raises:
        OptionsError: Options are invalid; the message lists all problems.
        SchemaError: A format cannot produce one of the columns.
    """
    columns = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    explanations = explain_decoding(configure_source(options), arrow_schema(columns))
    return "\n".join(f"{part}: {text}" for part, text in explanations.items())
