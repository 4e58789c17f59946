"""The plugin that infers the columns of a read of json without a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from millrace.contracts import SampledMessage, SchemaInference
from millrace.options.java_pattern import java_pattern
from millrace_catalog.inference import InferenceOptions
from millrace_catalog.inference.options import JsonReadOptions
from millrace_catalog.inference.topic_inference import infer_table, messages_by_table, table_of_fixed_types
from millrace_catalog.types.arrow import to_arrow_schema


class JsonSchemaInference(SchemaInference):
    """Infer the columns of JSON objects."""

    Options = JsonReadOptions
    options: JsonReadOptions

    def infer(
        self, topics: Mapping[str, Sequence[SampledMessage]], max_columns: int, *, skip_malformed: bool = False
    ) -> pa.Schema:
        """Infer columns: see `SchemaInference.infer`."""
        options = replace(self.options, ignore_parse_errors=True) if skip_malformed else self.options
        if not topics:
            table = table_of_fixed_types("", options).table
            return pa.schema([]) if table is None else to_arrow_schema(table.schema)
        if options.table_fields and options.table_include is not None:
            matches = java_pattern(options.table_include).fullmatch
            topics = {
                topic: [
                    message
                    for table, table_messages in messages_by_table(topic, messages, options).items()
                    for message in table_messages
                    if matches(table)
                ]
                for topic, messages in topics.items()
            }
        limit = InferenceOptions(max_columns=max_columns)
        tables = [infer_table(topic, messages, options, limit).table for topic, messages in topics.items()]
        if len(tables) > 1:
            # The tables cannot be joined: they do not know any more which columns had only nulls or empty arrays
            messages = [message for sample in topics.values() for message in sample]
            lenient = replace(options, ignore_parse_errors=True)
            tables = [infer_table(";".join(topics), messages, lenient, limit).table]
        return to_arrow_schema(tables[0].schema) if tables[0] is not None else pa.schema([])
