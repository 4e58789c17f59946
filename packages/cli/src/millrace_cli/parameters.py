"""Types of the parameters of commands."""

from __future__ import annotations

import click


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
