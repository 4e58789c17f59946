"""The options of the json format, with the names and defaults of the reference."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import Literal

from millrace.options import option
from millrace.options.values import parse_java_pattern, parse_names

logger = logging.getLogger("millrace.formats")


def parse_field_names(text: str) -> tuple[str, ...]:
    """Parse field names such as ``db,table``; ValueError when a name is empty or repeated."""
    return parse_names(text, "names of fields", "field", separator=",")


@dataclass(frozen=True)
class JsonOptions:
    """The options of json."""

    fail_on_missing_field: bool = option(
        "fail-on-missing-field", default=False, doc="Whether a message that lacks a column's field is an error."
    )
    ignore_parse_errors: bool = option(
        "ignore-parse-errors",
        default=False,
        skips_malformed=True,
        doc="Read a field that cannot be converted as NULL; skip non-JSON messages.",
    )
    ignored_scope: Literal["field", "row"] = option(
        "ignore-parse-errors.scope",
        default="field",
        doc="With ignore-parse-errors: what a field that cannot be converted costs: field makes it NULL, row skips "
        "the whole message. (Addition.)",
    )
    timestamp_format: Literal["SQL", "ISO-8601"] = option(
        "timestamp-format.standard",
        default="SQL",
        doc="The format of timestamps: SQL with a space between date and time, ISO-8601 with a T.",
    )
    map_null_key_mode: Literal["FAIL", "DROP", "LITERAL"] = option(
        "map-null-key.mode",
        default="FAIL",
        doc="How to write a NULL map key. No effect, because Spark's maps cannot have NULL keys.",
    )
    map_null_key_literal: str = option(
        "map-null-key.literal",
        default="null",
        doc="The text to write for a NULL map key. No effect, because Spark's maps cannot have NULL keys.",
    )
    decimal_as_plain_number: bool = option(
        "encode.decimal-as-plain-number", default=False, doc="Never write decimals in scientific notation."
    )
    ignore_null_fields: bool = option(
        "encode.ignore-null-fields", default=False, doc="Leave out fields that are NULL when writing."
    )

    flatten: bool = option(
        "infer-schema.flatten-nested-columns.enable",
        default=False,
        doc="Read columns named like a.b.c from fields of nested objects. Has no effect on writes.",
    )
    nested: Literal["string", "flatten", "struct"] | None = option(
        "infer-schema.nested",
        default=None,
        doc="flatten is the same as infer-schema.flatten-nested-columns.enable. The other values affect only schema "
        "inference. (Addition.)",
    )

    rescued: str | None = option(
        "rescued-data-column",
        default=None,
        doc="For a read: the STRING column, named without value.fields-prefix, that gets the fields of a message that "
        "have no column, as a JSON object; NULL if there are none. A schema that you give must contain it. "
        "(Addition.)",
    )

    table_fields: tuple[str, ...] = option(
        "decode.parser-table-id.fields",
        default=(),
        parse=parse_field_names,
        doc="Fields, separated by commas, whose values, joined by dots, are the table id of a message, such as "
        "db,table. Requires table.include.",
    )
    table_include: str | None = option(
        "table.include",
        default=None,
        parse=parse_java_pattern,
        doc="Read only messages whose whole table id matches this Java regular expression. Requires "
        "decode.parser-table-id.fields. (Addition.)",
    )

    def __post_init__(self) -> None:
        check_table_filter(self.table_fields, self.table_include)
        report_map_null_key(self.map_null_key_mode, self.map_null_key_literal)
        check_ignored_scope(self.ignored_scope, self.ignore_parse_errors)
        if self.fail_on_missing_field and self.ignore_parse_errors:
            raise ValueError(
                "fail-on-missing-field and ignore-parse-errors exclude each other: set at most one of them to true"
            )

    @property
    def nulls_fields(self) -> bool:
        """Return whether a field that cannot be converted is NULL."""
        return self.ignore_parse_errors and self.ignored_scope == "field"

    @property
    def iso(self) -> bool:
        """Return whether timestamps are written with a ``T``."""
        return self.timestamp_format == "ISO-8601"

    @property
    def flattens(self) -> bool:
        """Return whether columns named ``a.b.c`` are read from fields of nested objects."""
        return self.flatten or self.nested == "flatten"


def check_table_filter(fields: tuple[str, ...], include: str | None) -> None:
    """Raise ValueError for one of the options without the other."""
    if fields and include is None:
        raise ValueError(
            "decode.parser-table-id.fields requires table.include, which says the tables to read, such as "
            "db1\\.orders: a read has the columns of all messages that it reads. The tables of a topic are listed by "
            "the catalog: KafkaJsonCatalog.tables_of(topic)"
        )
    if include is not None and not fields:
        raise ValueError("table.include requires decode.parser-table-id.fields, which says the fields of a table's id")


def check_ignored_scope(scope: str, ignore_parse_errors: bool) -> None:
    """Raise ValueError where parse errors are not ignored, so that their scope would have no effect."""
    if scope != "field" and not ignore_parse_errors:
        raise ValueError(
            f"ignore-parse-errors.scope = {scope} requires ignore-parse-errors = true: set both, or leave it out"
        )


@cache
def report_map_null_key(mode: str, literal: str) -> None:
    """Log that options for NULL keys of maps have no effect, which neither Spark nor Arrow has."""
    ineffective = [f"map-null-key.mode = {mode}"] * (mode != "FAIL") + ["map-null-key.literal"] * (literal != "null")
    if ineffective:  # once for each of them, though options are parsed several times
        logger.warning(
            "%s: no effect, since maps in Spark have no NULL keys, and a map that is made with one fails: filter or "
            "replace such keys where the map is made",
            " and ".join(ineffective),
        )
