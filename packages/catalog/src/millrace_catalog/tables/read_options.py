"""Data source options that read a topic as its table."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.tables.options import CatalogConfig
from millrace_catalog.tables.table_schema import METADATA


def read_options(topic: str, config: CatalogConfig, key: Sequence[str], *, key_is_json: bool) -> dict[str, str]:
    """Return the data source options that read a table.

    Args:
        topic: Topic of the table.
        config: Options of its catalog.
        key: Names of the key columns.
        key_is_json: Whether keys are read as JSON, else as bytes.
    """
    options = config
    json = _decoding_options(config.json)
    read = {
        **config.connection,
        "topic": topic,
        "format": config.format,
        **config.format_options,
        **({f"json.{name}": value for name, value in json.items()} if config.format == "json" else {}),
        "metadata.columns": ", ".join(column.name for column in METADATA),
    }
    if config.json.rescued is not None and config.format == "json":
        read["json.rescued-data-column"] = config.json.rescued
    if options.value_prefix:
        read["value.fields-prefix"] = options.value_prefix
    if key:
        read |= {"key.fields": ";".join(key), "value.fields-include": "EXCEPT_KEY"}
        read["key.format"] = "json" if key_is_json else "raw"
        if options.key_prefix:
            read["key.fields-prefix"] = options.key_prefix
        if key_is_json:
            read |= {f"key.json.{name}": value for name, value in json.items()}
    return read


def quote_java_pattern(text: str) -> str:
    """Return the regular expression, in Java's syntax, that matches a text and nothing else."""
    return "".join(char if char.isalnum() or char == "_" else f"\\{char}" for char in text)


def _decoding_options(json: JsonSchemaOptions) -> dict[str, str]:
    """Return the options of json that change how messages are decoded, not how columns are inferred."""
    options = {}
    if json.ignore_parse_errors:
        options["ignore-parse-errors"] = "true"
    if json.ignored_scope != "field":
        options["ignore-parse-errors.scope"] = json.ignored_scope
    if json.iso:
        options["timestamp-format.standard"] = json.timestamp_format
    if json.nesting == "flatten":
        options["infer-schema.flatten-nested-columns.enable"] = "true"
    return options
