"""Options of schema inference, with the names and defaults of the reference; additions are marked as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt

from millrace.options import option
from millrace.options.values import parse_java_pattern, parse_names
from millrace_catalog.types import NULL, Column, parse_schema

Nesting = Literal["string", "flatten", "struct"]


def parse_table_fields(text: str) -> tuple[str, ...]:
    """Parse field names such as ``db,table``; ValueError when a name is empty or repeated."""
    return parse_names(text, "names of fields", "field", separator=",")


def parse_fixed_types(text: str) -> tuple[Column, ...]:
    """Parse columns such as ``id BIGINT, name VARCHAR(10)``; ValueError when it is no such list."""
    schema = parse_schema(text)
    if any(column.type == NULL for column in schema):
        raise ValueError("expected column types, of which NULL is none")
    return schema.columns


@dataclass(frozen=True)
class InferenceOptions:
    """Options that do not depend on the format."""

    max_columns: Annotated[int, Gt(0)] = option(
        "infer-schema.max-columns",
        default=2_000,
        doc="The maximum number of columns of a table, including nested fields. A topic with more is an error. "
        "(Addition.)",
    )
    key_field: str = option(
        "infer-schema.parse-key-error.field-name",
        default="col",
        doc="Name, without key.fields-prefix, of the single column of keys that are not all JSON objects.",
    )


@dataclass(frozen=True)
class EvolutionOptions:
    """Options of following a schema as its messages change."""

    strategy: Literal["continuous", "static"] = option(
        "schema.inference.strategy",
        default="continuous",
        doc="Whether a table's schema follows its messages (continuous) or stays as it was first inferred (static).",
    )


@dataclass(frozen=True)
class FormatOptions:
    """Options that every format has, prefixed with the name of the format."""

    ignore_parse_errors: bool = option(
        "ignore-parse-errors", default=False, doc="Skip messages that cannot be parsed when a schema is inferred."
    )
    timestamp_format: Literal["SQL", "ISO-8601"] = option(
        "timestamp-format.standard",
        default="SQL",
        doc="Format of timestamps: SQL with a space between date and time, ISO-8601 with a T.",
    )
    primitive_as_string: bool = option(
        "infer-schema.primitive-as-string",
        default=False,
        doc="Infer STRING for all values that are neither arrays nor objects.",
    )

    @property
    def iso(self) -> bool:
        """Return whether timestamps are written with a ``T`` (ISO-8601)."""
        return self.timestamp_format == "ISO-8601"


@dataclass(frozen=True)
class JsonSchemaOptions(FormatOptions):
    """Options of json for a topic that is one table."""

    ignored_scope: Literal["field", "row"] = option(
        "ignore-parse-errors.scope",
        default="field",
        doc="With ignore-parse-errors: what a field costs that a read cannot convert: field makes it NULL, row skips "
        "the whole message. (Addition.)",
    )
    flatten: bool = option(
        "infer-schema.flatten-nested-columns.enable",
        default=False,
        doc="Make each field of nested objects a column, at any depth, named like a.b.c. The same as "
        "infer-schema.nested = flatten.",
    )
    nested: Literal["string", "flatten", "struct"] | None = option(
        "infer-schema.nested",
        default=None,
        doc="How nested objects are represented: string (JSON text, the default), flatten (a column for each field) "
        "or struct. (Addition.)",
    )
    fixed_types: tuple[Column, ...] = option(
        "infer-schema.fixed-types",
        default=(),
        parse=parse_fixed_types,
        doc="Types of columns that are not inferred, such as id BIGINT, name VARCHAR(10).",
    )
    rescued: str | None = option(
        "rescued-data-column",
        default=None,
        doc="Add a STRING column of this name for fields of later messages that have no column, as a JSON object. "
        "(Addition.)",
    )

    def __post_init__(self) -> None:
        if self.ignored_scope != "field" and not self.ignore_parse_errors:
            raise ValueError(
                f"ignore-parse-errors.scope = {self.ignored_scope} requires ignore-parse-errors = true: set both, or "
                f"leave it out"
            )
        if self.flatten and self.nested not in (None, "flatten"):
            raise ValueError(
                f"infer-schema.flatten-nested-columns.enable = true and infer-schema.nested = {self.nested} exclude "
                f"each other: give one of them"
            )

    @property
    def nesting(self) -> Nesting:
        """Representation of nested objects."""
        return self.nested or ("flatten" if self.flatten else "string")


@dataclass(frozen=True)
class JsonInferenceOptions(JsonSchemaOptions):
    """Options of json."""

    table_fields: tuple[str, ...] = option(
        "decode.parser-table-id.fields",
        default=(),
        parse=parse_table_fields,
        doc="Fields, separated by commas, whose values, joined by dots, are the table id of a message. Without them, "
        "the table has the name of the topic.",
    )


@dataclass(frozen=True)
class JsonReadOptions(JsonInferenceOptions):
    """Options of json for a read of some of the tables of a topic."""

    table_include: str | None = option(
        "table.include",
        default=None,
        parse=parse_java_pattern,
        doc="Infer columns only from messages whose whole table id matches this Java regular expression. (Addition.)",
    )


@dataclass(frozen=True)
class DebeziumInferenceOptions(FormatOptions):
    """Options of debezium-json."""

    schema_include: bool = option(
        "schema-include", default=False, doc="Whether messages include their schema next to the payload."
    )


@dataclass(frozen=True)
class CanalInferenceOptions(FormatOptions):
    """Options of canal-json."""

    database_include: str | None = option(
        "database.include",
        default=None,
        parse=parse_java_pattern,
        doc="Read only changes of databases whose whole names match this Java regular expression.",
    )
    table_include: str | None = option(
        "table.include",
        default=None,
        parse=parse_java_pattern,
        doc="Read only changes of tables whose whole names match this Java regular expression.",
    )
    strategy: Literal["AUTO", "SQL_TYPE", "MYSQL_TYPE"] = option(
        "infer-schema.strategy",
        default="AUTO",
        doc="Where types come from: AUTO, the values; SQL_TYPE, the message's sqlType; MYSQL_TYPE, its mysqlType.",
    )
    timestamp_as_datetime: bool = option(
        "mysql.treat-mysql-timestamp-as-datetime-enabled",
        default=True,
        doc="With MYSQL_TYPE: whether MySQL's TIMESTAMP becomes TIMESTAMP; if false, TIMESTAMP_LTZ.",
    )
    tinyint1_as_boolean: bool = option(
        "mysql.treat-tinyint1-as-boolean.enabled",
        default=True,
        doc="With MYSQL_TYPE: whether MySQL's TINYINT(1) becomes BOOLEAN; if false, TINYINT.",
    )
