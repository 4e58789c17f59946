from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from millrace_cli.parameters import page_options


def _command(*, is_on: bool) -> click.Command:
    @click.command()
    @page_options(is_on=is_on, port=4050)
    def command(ui_port: int | None) -> None:
        click.echo(ui_port)

    return command


@pytest.mark.parametrize(
    ("is_on", "arguments", "port"),
    [
        (False, [], ""),
        (False, ["--ui"], "4050"),
        (False, ["--ui-port", "0", "--ui"], "0"),
        (True, [], "4050"),
        (True, ["--no-ui"], ""),
    ],
)
def test_the_page_has_a_port_where_it_is_asked_for(is_on: bool, arguments: list[str], port: str) -> None:
    assert CliRunner().invoke(_command(is_on=is_on), arguments).output == f"{port}\n"
