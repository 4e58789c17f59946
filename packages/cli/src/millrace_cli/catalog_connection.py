"""The catalog that commands about topics ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millrace_cli.connection import connection_as_options, connection_options, pair

if TYPE_CHECKING:
    from millrace.contracts import Catalog

_CATALOG = "kafka"


def catalog_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command a topic, and the options that say which brokers, how to connect, and how to infer."""
    option = click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        callback=lambda _context, _option, given: dict(map(pair, given)),
        help="An option of the catalog, such as json.infer-schema.nested=struct; can be given more than once.",
    )
    return click.argument("topic")(connection_options(option(command)))


def catalog(
    bootstrap_servers: str | None, config: Path | None, properties: Mapping[str, str], options: Mapping[str, str]
) -> Catalog:
    """The catalog of the brokers' topics.

    Raises:
        OptionsError: An option is wrong, or a property is.
        PluginError: No package that is installed has it.
    """
    from millrace.plugins.kinds import CATALOG
    from millrace.plugins.manager import plugin_manager

    connected = connection_as_options(bootstrap_servers, config, properties)
    return plugin_manager().load(CATALOG, _CATALOG)({**connected, **options})
