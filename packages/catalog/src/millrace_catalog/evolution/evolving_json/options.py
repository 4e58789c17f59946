"""The options of the format, which the managed restart gives; they are not for users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from millrace.errors import OptionsError
from millrace.options import option
from millrace.plugins.kinds import FORMAT
from millrace.plugins.manager import plugin_manager
from millrace_catalog.inference.options import JsonSchemaOptions, parse_fixed_types
from millrace_catalog.types import Column


class ParsedOptions(NamedTuple):
    """The options of json.

    Attributes:
        format: Those of the format.
        inference: Those by which columns are inferred.
    """

    format: Any
    inference: JsonSchemaOptions


def parse_json_options(given: Mapping[str, str], prefix: str = "json.") -> ParsedOptions:
    """Parse the options of json, those of the format and those of inference alike.

    Args:
        given: Their values, by their names.
        prefix: What users write before these names.

    Raises:
        OptionsError: Something is wrong; every problem is in the one message.
    """
    from millrace.options.parser import OptionParser

    parser = OptionParser("read", {prefix + name: value for name, value in given.items()})
    format_: Any = plugin_manager().load(FORMAT, "json")
    parsed = ParsedOptions(
        parser.take(format_.Options, prefix), parser.take(JsonSchemaOptions, prefix) or JsonSchemaOptions()
    )
    parser.finish()
    return parsed


@dataclass(frozen=True)
class EvolvingJsonOptions:
    """The options of json-evolving."""

    columns: tuple[Column, ...] = option(
        "columns",
        default=(),
        parse=parse_fixed_types,
        doc="The columns of now, as id BIGINT, name STRING; none to wait for the first key. It is for catalogs.",
    )
    given: tuple[tuple[str, str], ...] = option(
        "json.*", default=(), doc="The options of json, and those by which its columns are inferred."
    )

    def __post_init__(self) -> None:
        # Executors get them parsed, since parsing needs more than they should load
        try:
            _ = self.parsed
        except OptionsError as error:
            raise ValueError("; ".join(error.problems)) from None

    @cached_property
    def parsed(self) -> ParsedOptions:
        """The options of json, parsed."""
        return parse_json_options(dict(self.given))
