"""Data source options that read a table whose columns follow its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from millrace.errors import OptionsError, SchemaError
from millrace_catalog.evolution.evolving_json.options import parse_json_options
from millrace_catalog.evolution.evolving_table import EvolvingTable, TableLayout
from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.inference.topic_inference import to_inference_options
from millrace_catalog.tables.options import CatalogConfig
from millrace_catalog.tables.read_options import read_options
from millrace_catalog.tables.table import KafkaJsonTable
from millrace_catalog.tables.table_schema import METADATA
from millrace_catalog.types import Schema

_FORMAT = "json-evolving"
_KEY_PROBE = "millrace_first_key"
_RESCUED = "rescued-data-column"

_SET_BY_THE_TABLE = {
    "format",
    "key.fields",
    "key.fields-prefix",
    "key.format",
    "metadata.columns",
    "topic",
    "topic-partitions",
    "topic-pattern",
    "value.fields-include",
    "value.fields-prefix",
    "value.format",
}


class EvolvingRead(NamedTuple):
    """A read of a table.

    Attributes:
        options: Data source options.
        key_probe: Name of an additional STRING column that is always NULL. It makes the data source read keys, of which
            the table has no columns yet. None when it is not needed.
    """

    options: dict[str, str]
    key_probe: str | None


def layout_of(table: KafkaJsonTable) -> TableLayout:
    """Return the unchanging parts of a table's definition.

    Raises:
        SchemaError: Its format is another one than json.
    """
    options = table.config
    if options.format != "json":
        raise SchemaError(
            f"table {table.name!r} has format {options.format}, and only columns of json can follow their messages: "
            f"read it with table.read_stream(spark), whose columns stay what they are"
        )
    if table.table_id is not None:
        raise SchemaError(
            f"table {table.name!r} is one of several in its topic, and only the columns of a whole topic can follow "
            f"its messages: read it with table.read_stream(spark), whose columns stay what they are"
        )
    return TableLayout(
        topic=table.name,
        json=to_inference_options(table.config.json),
        key_prefix=options.key_prefix,
        value_prefix=options.value_prefix,
        key_field=options.key_field,
        metadata=tuple(column.name for column in METADATA),
        is_upsert=table.is_upsert,
        max_columns=options.max_columns,
        is_static=options.strategy == "static",
    )


def evolving_read(
    topic: str, config: CatalogConfig, table: EvolvingTable, user_options: Mapping[str, str]
) -> EvolvingRead:
    """Return a read of a table with its current columns.

    Args:
        topic: Topic of the table.
        config: Options of its catalog.
        table: The table.
        user_options: Data source options of the user.

    Raises:
        OptionsError: The user gave an option that the table sets.
    """
    for name in user_options:
        if name.lower() in _SET_BY_THE_TABLE:
            raise OptionsError("read", (f"option {name!r}: the table sets it; leave it out",))
    overridden = {name.lower() for name in user_options}
    table_options = read_options(topic, config, table.keys, key_is_json=table.key_is_json)
    options = {name: value for name, value in table_options.items() if name.lower() not in overridden}
    options |= dict(user_options)
    return EvolvingRead(options, None) if config.strategy == "static" else _guarded(options, config, table)


def _guarded(options: dict[str, str], config: CatalogConfig, table: EvolvingTable) -> EvolvingRead:
    """Replace format json by json-evolving, which fails on a message that does not fit the columns."""
    inference = _inference_options(config.json)
    value_json = inference | _take(options, "json.") | _take(options, "value.json.")
    key_json = inference | _take(options, "key.json.")
    if _RESCUED in value_json:
        raise OptionsError(
            "read",
            (
                f"option 'json.{_RESCUED}': new fields become columns, so that there is nothing to rescue; leave it "
                f"out, or keep the columns as they are with the catalog's option 'schema.inference.strategy' = "
                f"'static'",
            ),
        )
    parse_json_options(value_json)
    parse_json_options(key_json, "key.json.")
    options |= {"format": _FORMAT, **_format_options("", table.value_fields(), value_json)}
    if table.keys and not table.key_is_json:
        return EvolvingRead(options, None)
    options |= {"key.format": _FORMAT, **_format_options("key.", table.key_fields(), key_json)}
    return EvolvingRead(options, None) if table.keys else _with_key_probe(options, config.key_prefix)


def _with_key_probe(options: dict[str, str], prefix: str) -> EvolvingRead:
    """Add a column for keys: the data source reads keys only if they have columns."""
    key_probe = f"{prefix}{_KEY_PROBE}"
    options |= {"key.fields": key_probe, "value.fields-include": "EXCEPT_KEY"}
    if prefix:
        options["key.fields-prefix"] = prefix
    return EvolvingRead(options, key_probe)


def _format_options(side: str, columns: Schema, json: Mapping[str, str]) -> dict[str, str]:
    prefix = f"{side}{_FORMAT}."
    column_option = {f"{prefix}columns": str(columns)} if columns else {}
    return column_option | {f"{prefix}json.{name}": value for name, value in json.items()}


def _take(options: dict[str, str], prefix: str) -> dict[str, str]:
    """Remove the options with a prefix, and return them without it."""
    names = [name for name in options if name.lower().startswith(prefix)]
    return {name[len(prefix) :].lower(): options.pop(name) for name in names}


def _inference_options(json: JsonSchemaOptions) -> dict[str, str]:
    fixed = str(Schema(json.fixed_types))
    return {
        "infer-schema.nested": json.nesting,
        "infer-schema.primitive-as-string": str(json.primitive_as_string).lower(),
        **({"infer-schema.fixed-types": fixed} if fixed else {}),
    }
