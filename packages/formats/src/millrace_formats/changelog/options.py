"""The options that the formats of changes share with json."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from millrace.options import option
from millrace_formats.json.options import JsonOptions


def _as_in_json(name: str) -> Any:
    """An option declared as json declares it."""
    field = next(field for field in dataclasses.fields(JsonOptions) if field.name == name)
    return dataclasses.field(default=field.default, metadata=field.metadata)


@dataclass(frozen=True)
class ChangeOptions:
    """The options of a format of changes.

    All of json's but ``fail-on-missing-field``: what a tool leaves out of an old row has not changed.
    """

    ignore_parse_errors: bool = option(
        "ignore-parse-errors",
        default=False,
        skips_malformed=True,
        doc="Read a field that cannot be converted as NULL; skip messages that are no JSON or no change, such as an "
        "update that lacks its old row.",
    )
    timestamp_format: Literal["SQL", "ISO-8601"] = _as_in_json("timestamp_format")
    map_null_key_mode: Literal["FAIL", "DROP", "LITERAL"] = _as_in_json("map_null_key_mode")
    map_null_key_literal: str = _as_in_json("map_null_key_literal")
    decimal_as_plain_number: bool = _as_in_json("decimal_as_plain_number")
    ignore_null_fields: bool = _as_in_json("ignore_null_fields")

    @property
    def json(self) -> JsonOptions:
        """The same as options of json, for the rows within a change."""
        shared = (field.name for field in dataclasses.fields(ChangeOptions))
        return JsonOptions(**{name: getattr(self, name) for name in shared})
