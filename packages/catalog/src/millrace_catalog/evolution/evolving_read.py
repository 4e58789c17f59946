"""The options by which the data source reads a table whose columns follow its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from millrace.errors import OptionsError
from millrace_catalog.evolution.evolving_json.options import parse_json_options
from millrace_catalog.evolution.evolving_table import EvolvingTable
from millrace_catalog.evolution.layout import Layout
from millrace_catalog.inference import JsonSchemaOptions
from millrace_catalog.inference.sampled import all_options
from millrace_catalog.tables.options import Configured
from millrace_catalog.tables.read_options import read_options
from millrace_catalog.tables.table_schema import METADATA
from millrace_catalog.types import Schema

if TYPE_CHECKING:
    from millrace_catalog.tables.table import KafkaJsonTable

FORMAT = "json-evolving"
FIRST_KEY = "millrace_first_key"
RESCUED = "rescued-data-column"

_OF_THE_TABLE = {
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
    """How a table is read.

    Attributes:
        options: Options of the data source.
        watched: A further STRING column of the read that holds nothing; None if there is none.
    """

    options: dict[str, str]
    watched: str | None


def layout_of(table: KafkaJsonTable) -> Layout:
    """What of a table does not change."""
    options, json_options = table.configured.options, table.configured.json
    return Layout(
        topic=table.name,
        json=all_options(json_options),
        key_prefix=options.key_prefix,
        value_prefix=options.value_prefix,
        key_field=options.key_field,
        metadata=tuple(column.name for column in METADATA),
        is_upsert=table.is_upsert,
        max_columns=options.max_columns,
        is_static=options.strategy == "static",
    )


def evolving_read(topic: str, configured: Configured, table: EvolvingTable, given: Mapping[str, str]) -> EvolvingRead:
    """How a table is read with the columns of now.

    Args:
        topic: Its topic.
        configured: The options of its catalog.
        table: The table.
        given: The user's options of the data source.

    Raises:
        OptionsError: They speak of what the table says itself.
    """
    for name in given:
        if name.lower() in _OF_THE_TABLE:
            raise OptionsError("read", (f"option {name!r}: the table says that itself; leave it out",))
    own = {name.lower() for name in given}
    read = read_options(topic, configured, table.keys, key_is_json=table.key_is_json)
    options = {name: value for name, value in read.items() if name.lower() not in own} | dict(given)
    if configured.options.strategy == "static":
        return EvolvingRead(options, None)
    return _watching(options, configured, table)


def _watching(options: dict[str, str], configured: Configured, table: EvolvingTable) -> EvolvingRead:
    inferred = _inference(configured.json)
    of_value = inferred | _take(options, "json.") | _take(options, "value.json.")
    of_key = inferred | _take(options, "key.json.")
    if RESCUED in of_value:
        raise OptionsError(
            "read",
            (
                f"option 'json.{RESCUED}': new fields become columns, so that there is nothing to rescue; leave it "
                f"out, or let the columns stay as they are by the catalog's option 'schema.inference.strategy' = "
                f"'static'",
            ),
        )
    parse_json_options(of_value)
    parse_json_options(of_key, "key.json.")
    options |= {"format": FORMAT, **_format_options("", table.value_fields(), of_value)}
    if table.keys and not table.key_is_json:
        return EvolvingRead(options, None)
    options |= {"key.format": FORMAT, **_format_options("key.", table.key_fields(), of_key)}
    if table.keys:
        return EvolvingRead(options, None)
    # Keys are read only where they have columns
    watched = f"{configured.options.key_prefix}{FIRST_KEY}"
    options |= {"key.fields": watched, "value.fields-include": "EXCEPT_KEY"}
    if configured.options.key_prefix:
        options["key.fields-prefix"] = configured.options.key_prefix
    return EvolvingRead(options, watched)


def _format_options(side: str, columns: Schema, json: Mapping[str, str]) -> dict[str, str]:
    prefix = f"{side}{FORMAT}."
    known = {f"{prefix}columns": str(columns)} if columns else {}
    return known | {f"{prefix}json.{name}": value for name, value in json.items()}


def _take(options: dict[str, str], prefix: str) -> dict[str, str]:
    """Take the options behind a prefix out, by the rests of their names."""
    names = [name for name in options if name.lower().startswith(prefix)]
    return {name[len(prefix) :].lower(): options.pop(name) for name in names}


def _inference(json: JsonSchemaOptions) -> dict[str, str]:
    """The options by which a schema is inferred."""
    fixed = str(Schema(json.fixed_types))
    return {
        "infer-schema.nested": json.nesting,
        "infer-schema.primitive-as-string": str(json.primitive_as_string).lower(),
        **({"infer-schema.fixed-types": fixed} if fixed else {}),
    }
