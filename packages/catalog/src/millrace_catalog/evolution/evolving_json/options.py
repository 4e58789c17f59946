"""Options of the format, set by `evolving_read`; they are not for users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from millrace.errors import OptionsError
from millrace.options import option
from millrace.plugins import FORMAT, plugin_manager
from millrace_catalog.inference.options import JsonSchemaOptions, parse_fixed_types
from millrace_catalog.types import Column


class ParsedOptions(NamedTuple):
    """Options of json.

    Attributes:
        format: Options of the format.
        inference: Options by which columns are inferred.
    """

    format: Any
    inference: JsonSchemaOptions


def parse_json_options(raw: Mapping[str, str], prefix: str = "json.") -> ParsedOptions:
    """Parse the options of json: those of the format and those of inference.

    Args:
        raw: Values by name, without prefix.
        prefix: Prefix of the names in errors.

    Raises:
        OptionsError: Options are wrong; the message has every problem.
    """
    from millrace.options.parser import OptionParser

    parser = OptionParser("read", {prefix + name: value for name, value in raw.items()})
    format_: Any = plugin_manager().load(FORMAT, "json")
    parsed = ParsedOptions(
        parser.take(format_.Options, prefix), parser.take(JsonSchemaOptions, prefix) or JsonSchemaOptions()
    )
    if getattr(parsed.format, "table_include", None) is not None:
        parser.report(f"option '{prefix}table.include' is not for columns that follow the messages of a whole topic")
    parser.finish()
    return parsed


@dataclass(frozen=True)
class EvolvingJsonOptions:
    """Options of json-evolving."""

    columns: tuple[Column, ...] = option(
        "columns",
        default=(),
        parse=parse_fixed_types,
        doc="The current columns, as id BIGINT, name STRING; none to wait for the first key. Set by catalogs.",
    )
    json_options: tuple[tuple[str, str], ...] = option(
        "json.*", default=(), doc="The options of json, and those by which its columns are inferred."
    )

    def __post_init__(self) -> None:
        # Parsed on the driver, since parsing needs more than executors should import
        try:
            _ = self.parsed
        except OptionsError as error:
            raise ValueError("; ".join(error.problems)) from None

    @cached_property
    def parsed(self) -> ParsedOptions:
        """Parsed options of json."""
        return parse_json_options(dict(self.json_options))
