"""The commands of ``millrace``, and where each of them is."""

from __future__ import annotations

import click

import millrace
from millrace.cli.lazy import LazyGroup


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"millrace {millrace.__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    commands_at={
        "demo": "millrace.cli.demo:demo",
        "plugins": "millrace.cli.plugins:plugins",
        "schema": "millrace.cli.schema:schema",
        "peek": "millrace.cli.peek:peek",
        "broker": "millrace.cli.broker:broker",
        "transactions": "millrace.cli.transactions:transactions",
    },
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def root() -> None:
    """A plugin-based Kafka connector for PySpark."""
