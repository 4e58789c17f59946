"""Types of the parameters of commands, and the options of the live page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_SWITCH = "millrace.ui"


class NameValue(click.ParamType):
    """A pair ``NAME=VALUE``, split at its first ``=``."""

    name = "NAME=VALUE"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return name and value."""
        if isinstance(value, tuple):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name.strip():
            # Without quoting the text, which may hold a password
            self.fail("expected NAME=VALUE, such as security.protocol=SASL_SSL", param, ctx)
        return name.strip(), text


def page_options(*, is_on: bool, port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--ui`` and ``--ui-port`` to a command, which gets the page's port as ``ui_port``; None for no page.

    Args:
        is_on: Whether the page is open where neither ``--ui`` nor ``--no-ui`` is given and millrace-ui is installed.
        port: The port where none is given.
    """
    switch = click.option(
        "--ui/--no-ui",
        "ui",
        default=None,
        is_eager=True,
        expose_value=False,
        callback=lambda context, _, value: context.meta.update({_SWITCH: value}),
        help=f"Open the live page, of the package millrace-ui, while it runs.  [default: {'on' if is_on else 'off'}]",
    )
    number = click.option(
        "--ui-port",
        type=click.IntRange(0, 65535),
        default=port,
        show_default="a free one" if port == 0 else True,
        callback=lambda context, _, value: _page_port(context, value, is_on=is_on),
        help="The page's port; 0 takes a free one.",
    )
    return lambda command: switch(number(command))


def _page_port(context: click.Context, port: int, *, is_on: bool) -> int | None:
    from millrace.api.ui import find_page, require_page

    wanted = context.meta.get(_SWITCH)
    if wanted is None:
        wanted = is_on and find_page() is not None
    if not wanted:
        return None
    require_page()
    return port
