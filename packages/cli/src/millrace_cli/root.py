"""The commands of ``millrace``, and where each of them is."""

from __future__ import annotations

import click

import millrace
from millrace_cli.lazy import LazyGroup


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"millrace {millrace.__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    commands_at={
        "demo": "millrace_cli.demo_command:demo",
        "plugins": "millrace_cli.plugins:plugins",
        "schema": "millrace_cli.schema:schema",
        "peek": "millrace_cli.peek:peek",
        "broker": "millrace_cli.broker:broker",
        "transactions": "millrace_cli.transactions.command:transactions",
    },
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def root() -> None:
    """A plugin-based Kafka connector for PySpark."""
