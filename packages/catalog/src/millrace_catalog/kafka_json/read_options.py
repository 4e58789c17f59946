"""The options by which the data source reads a topic as its table."""

from __future__ import annotations

from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.kafka_json.options import Configured
from millrace_catalog.kafka_json.shape import METADATA, Shape


def read_options(topic: str, configured: Configured, shape: Shape) -> dict[str, str]:
    """The options of the data source, for the columns of the shape."""
    options, key = configured.options, shape.names_of("key")
    json = _json_options(configured.json)
    found = {
        **configured.connection,
        "topic": topic,
        "format": "json",
        **{f"json.{name}": value for name, value in json.items()},
        "metadata.columns": ", ".join(column.name for column in METADATA),
    }
    if configured.json.rescued is not None:
        found["json.rescued-data-column"] = configured.json.rescued
    if options.value_prefix:
        found["value.fields-prefix"] = options.value_prefix
    if key:
        found |= {"key.fields": ";".join(key), "value.fields-include": "EXCEPT_KEY"}
        found["key.format"] = "json" if shape.key_is_json else "raw"
        if options.key_prefix:
            found["key.fields-prefix"] = options.key_prefix
        if shape.key_is_json:
            found |= {f"key.json.{name}": value for name, value in json.items()}
    return found


def _json_options(json: JsonSchemaOptions) -> dict[str, str]:
    """Those of json's options that matter to who reads messages."""
    found = {}
    if json.ignore_parse_errors:
        found["ignore-parse-errors"] = "true"
    if json.iso:
        found["timestamp-format.standard"] = json.timestamp_format
    if json.nesting == "flatten":
        found["infer-schema.flatten-nested-columns.enable"] = "true"
    return found
