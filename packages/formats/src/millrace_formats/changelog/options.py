"""The options that the formats of changes share with json."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from millrace.options import option
from millrace_formats.json.options import JsonOptions, check_ignored_scope, report_map_null_key
from millrace_formats.shared.old_rows import old_rows_option


def _json_option(name: str) -> Any:
    """Declare an option as json does."""
    field = next(field for field in dataclasses.fields(JsonOptions) if field.name == name)
    return dataclasses.field(default=field.default, metadata=field.metadata)


@dataclass(frozen=True)
class ChangeOptions:
    """The options of a format of changes.

    All of json's but ``fail-on-missing-field``: a field that a tool leaves out of an old row has not changed.
    """

    ignore_parse_errors: bool = option(
        "ignore-parse-errors",
        default=False,
        skips_malformed=True,
        doc="Read a field that cannot be converted as NULL, and skip messages that are not JSON or not a valid "
        "change, such as an update without its old row.",
    )
    ignored_scope: Literal["field", "row"] = option(
        "ignore-parse-errors.scope",
        default="field",
        doc="With ignore-parse-errors: what a field that cannot be converted costs: field makes it NULL, row skips "
        "all rows of the message. (Addition.)",
    )
    timestamp_format: Literal["SQL", "ISO-8601"] = _json_option("timestamp_format")
    map_null_key_mode: Literal["FAIL", "DROP", "LITERAL"] = _json_option("map_null_key_mode")
    map_null_key_literal: str = _json_option("map_null_key_literal")
    updates_without_old_row: Literal["fail", "upsert"] = old_rows_option()
    decimal_as_plain_number: bool = _json_option("decimal_as_plain_number")
    ignore_null_fields: bool = _json_option("ignore_null_fields")

    def __post_init__(self) -> None:
        report_map_null_key(self.map_null_key_mode, self.map_null_key_literal)
        check_ignored_scope(self.ignored_scope, self.ignore_parse_errors)

    @property
    def json(self) -> JsonOptions:
        """Return these options as json's, for the rows within a change."""
        own = {"updates_without_old_row"}
        shared = (field.name for field in dataclasses.fields(ChangeOptions) if field.name not in own)
        return JsonOptions(**{name: getattr(self, name) for name in shared})
