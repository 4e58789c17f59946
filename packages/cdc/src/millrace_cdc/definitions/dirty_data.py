"""The collectors of dirty data: dead letter collectors, and a table of the sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millrace.options import option
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_cdc.table_id import TableId

COLLECTOR = "dirty-data.collector"
"""The key of a collector's name; those of its options begin with it."""

TABLE = "table"
"""The collector that is a table of the sink."""

_OTHER_NAMES = {"kafka": "topic"}


def parse_collector(text: str) -> str:
    """Return the name of a collector, which may have two."""
    return _OTHER_NAMES.get(text, text)


def parse_table(text: str) -> str:
    """Check the id of a table.

    Raises:
        ValueError: It is none.
    """
    return str(TableId.parse(text))


@dataclass(frozen=True)
class TableCollectorOptions:
    """The options of the collector ``table``."""

    table: str = option(
        "table",
        parse=parse_table,
        default="malformed_messages",
        doc="The sink's table that malformed messages go to. Neither routes nor transforms apply to it.",
    )


def collector_options(name: str) -> type[Any]:
    """Return the class of a collector's options.

    Raises:
        PluginError: There is no such collector.
    """
    if name == TABLE:
        return TableCollectorOptions
    options: type[Any] = plugin_manager().load(DEAD_LETTER_COLLECTOR, name).Options
    return options
