"""The options of JSON behind a schema registry."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options import option
from millrace_formats.registry.options import RegistryOptions


@dataclass(frozen=True, kw_only=True)
class JsonRegistryOptions(RegistryOptions):
    """Options of json-confluent."""

    schema: str | None = option(
        "schema",
        default=None,
        doc="JSON Schema that a write registers; by default derived from the columns. A read without columns has those "
        "of this schema.",
    )
    ignore_null_fields: bool = option(
        "encode.ignore-null-fields", default=False, doc="Leave out fields that are NULL when writing."
    )
