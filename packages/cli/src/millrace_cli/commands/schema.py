"""``millrace schema``: show the columns of a topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace_cli.connection import catalog_options, open_catalog

if TYPE_CHECKING:
    from millrace.contracts import CatalogTable

_OUTPUT_FORMATS: dict[str, Callable[[CatalogTable], str]] = {
    "ddl": lambda table: table.ddl(),
    "spark": lambda table: table.spark_ddl(),
    "json-schema": lambda table: table.json_schema(),
}


@click.command()
@catalog_options
@click.option("--ddl", "output_format", flag_value="ddl", help="Print a CREATE TABLE statement.")
@click.option("--spark", "output_format", flag_value="spark", help="Print the argument for .schema(...).")
@click.option("--json-schema", "output_format", flag_value="json-schema", help="Print the JSON Schema of the values.")
def schema(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    catalog: str,
    options: Mapping[str, str],
    output_format: str | None,
) -> None:
    """Show the columns of a topic.

    They are inferred from its newest messages. By default it prints a table: the type of each column, where it comes
    from, and which messages decided it.
    """
    from millrace_cli.tables import printable

    table = open_catalog(catalog, bootstrap_servers, config, properties, options).table(topic)
    text = _OUTPUT_FORMATS[output_format](table) if output_format else table.describe()
    for line in text.split("\n"):
        click.echo(printable(line))
