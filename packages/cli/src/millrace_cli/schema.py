"""`millrace schema`: the columns of a topic, and why they are what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from millrace_cli.catalog_connection import catalog, catalog_options

if TYPE_CHECKING:
    from millrace.contracts import CatalogTable

_FORMS: dict[str, Callable[[CatalogTable], str]] = {
    "ddl": lambda table: table.ddl(),
    "spark": lambda table: table.spark_ddl(),
    "json-schema": lambda table: table.json_schema(),
}


@click.command()
@catalog_options
@click.option("--ddl", "form", flag_value="ddl", help="As a CREATE TABLE statement.")
@click.option("--spark", "form", flag_value="spark", help="As .schema(...) of a read takes it.")
@click.option("--json-schema", "form", flag_value="json-schema", help="As the JSON Schema of messages' values.")
def schema(
    topic: str,
    bootstrap_servers: str | None,
    config: Path | None,
    properties: Mapping[str, str],
    options: Mapping[str, str],
    form: str | None,
) -> None:
    """Show the columns that the newest messages of a topic have.

    Without a form it is a table for people: each column's type, where it comes from, and which messages made it so.
    """
    from millrace_cli.printable import printable

    table = catalog(bootstrap_servers, config, properties, options).table(topic)
    text = table.describe() if form is None else _FORMS[form](table)
    for line in text.split("\n"):
        click.echo(printable(line))
