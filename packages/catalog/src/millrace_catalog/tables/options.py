"""Options of the catalog, with the names of the reference; additions are marked as such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge

from millrace.contracts import Format
from millrace.options import option, options_of
from millrace.options.connector import SourceOptions
from millrace.options.parser import OptionParser
from millrace.options.secrets import Properties
from millrace.options.values import parse_duration_ms
from millrace.plugins import FORMAT, plugin_manager
from millrace.sampling import take_client_properties
from millrace_catalog.inference import EvolutionOptions, FormatOptions, InferenceOptions, JsonInferenceOptions
from millrace_catalog.inference.changelog_inference import CHANGELOG_READERS

_CLIENT_PREFIX = "properties."


@dataclass(frozen=True, kw_only=True)
class CatalogOptions(EvolutionOptions, InferenceOptions):
    """Options of the catalog that are not json's."""

    type: Literal["kafka"] = option("type", default="kafka", doc="Name of the catalog, as SQL gives it.")
    format: Literal["json", "canal-json", "debezium-json", "avro-confluent", "json-confluent", "protobuf-confluent"] = (
        option(
            "format",
            default="json",
            doc="Format of values. The columns of json, canal-json and debezium-json are inferred from messages, those "
            "of the others are in their schema registry. Keys are read as JSON if all are, else as bytes.",
        )
    )
    database: str = option("default-database", default="kafka", doc="Name of the one database, for SQL.")
    key_prefix: str = option("key.fields-prefix", default="key_", doc="Prefix of the names of key columns.")
    value_prefix: str = option("value.fields-prefix", default="", doc="Prefix of the names of value columns.")
    sample: Annotated[int, Ge(0)] = option(
        "scan.max.pre.fetch.records",
        default=50,
        aliases=("max.fetch.records",),
        doc="Number of newest messages of each partition that a table is inferred from; with 0, the columns come "
        "from infer-schema.fixed-types.",
    )
    upsert: bool = option(
        "infer-schema.compacted-topic-as-upsert-table",
        default=False,
        doc="Whether the primary key of a compacted topic's table is its key columns, instead of partition and "
        "offset. Requires the permission to describe the topic's settings.",
    )
    cache_ttl_ms: int = option(
        "infer-schema.cache-ttl",
        default=600_000,
        parse=parse_duration_ms,
        doc="How long inferred tables are cached; with 0 they are inferred at each use. (Addition.)",
    )

    def __post_init__(self) -> None:
        if self.format in CHANGELOG_READERS and not self.sample:
            raise ValueError(
                f"option 'scan.max.pre.fetch.records' is 0, and the columns of format {self.format} are in messages: "
                f"raise it, or leave it out"
            )
        if self.format in CHANGELOG_READERS and self.upsert:
            raise ValueError(
                f"option 'infer-schema.compacted-topic-as-upsert-table' is not for format {self.format}, whose rows "
                f"have a row kind: leave it out"
            )
        key, value = self.key_prefix, self.value_prefix
        if key and value and (key.startswith(value) or value.startswith(key)):
            raise ValueError(
                f"options 'key.fields-prefix' and 'value.fields-prefix': {key!r} and {value!r} cannot be told "
                f"apart, since one begins with the other"
            )


@dataclass(frozen=True, kw_only=True)
class CatalogConfig(CatalogOptions):
    """All parsed options of a catalog.

    Attributes:
        json: Options of json.
        client: Properties of the Kafka client.
        connection: Options ``properties.*`` as the user gave them, for reads.
        registered: The format of values whose columns a schema registry has; None for other formats.
        changelog: Options of canal-json or debezium-json; None for other formats.
        format_options: The options of the format, unless it is json, as the user gave them, for reads.
    """

    json: JsonInferenceOptions
    client: Properties
    connection: Properties
    registered: Format | None = None
    changelog: FormatOptions | None = None
    format_options: Properties = field(default_factory=lambda: Properties({}))


def parse_catalog_options(raw: Mapping[str, str]) -> CatalogConfig:
    """Parse and check the options of a catalog.

    Raises:
        OptionsError: Options are wrong; the message has every problem.
    """
    parser = OptionParser("catalog", raw)
    client = take_client_properties(parser)
    options = parser.take(CatalogOptions) or CatalogOptions()
    # The reference has json's options without prefix in a catalog
    json = parser.take(JsonInferenceOptions, "", "json.") or JsonInferenceOptions()
    registered, changelog = None, None
    prefix = f"{options.format}."
    if options.format in CHANGELOG_READERS:
        parser.take(plugin_manager().load(FORMAT, options.format).Options, prefix)
        changelog = parser.take(CHANGELOG_READERS[options.format].options_class, prefix)
    elif options.format != "json":
        format_class = plugin_manager().load(FORMAT, options.format)
        format_options = parser.take(format_class.Options, prefix) if format_class.Options else None
        registered = None if format_options is None else format_class(format_options)
    parser.finish(_unknown_option_hint)
    return CatalogConfig(
        **vars(options),
        json=json,
        client=client,
        connection=_with_prefix(raw, _CLIENT_PREFIX),
        registered=registered,
        changelog=changelog,
        format_options=Properties({}) if options.format == "json" else _with_prefix(raw, prefix),
    )


def _with_prefix(raw: Mapping[str, str], prefix: str) -> Properties:
    return Properties({name: str(value) for name, value in raw.items() if name.lower().startswith(prefix)})


def _unknown_option_hint(name: str) -> str | None:
    declared = options_of(SourceOptions).values()
    read_options = {alias.lower() for info in declared for alias in (info.name, *info.aliases)}
    if name.lower() in read_options or name.lower().startswith(("scan.startup.", "scan.bounded.")):
        return f"it is for reads: catalog.table(...).read(spark, {{{name!r}: ...}})"
    return None
