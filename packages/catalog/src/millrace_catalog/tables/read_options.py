"""The options by which the data source reads a topic as its table."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.tables.options import Configured
from millrace_catalog.tables.table_schema import METADATA


def read_options(topic: str, configured: Configured, key: Sequence[str], *, key_is_json: bool) -> dict[str, str]:
    """The options of the data source for a table.

    Args:
        topic: Its topic.
        configured: The options of its catalog.
        key: The columns of keys.
        key_is_json: Whether keys are read as JSON, else as bytes.
    """
    options = configured.options
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
        found["key.format"] = "json" if key_is_json else "raw"
        if options.key_prefix:
            found["key.fields-prefix"] = options.key_prefix
        if key_is_json:
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
