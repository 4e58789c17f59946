"""The command line of a shell or a script, parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Start(NamedTuple):
    """The command line of ``millrace sql``, but for the script.

    Attributes:
        catalog_store: The folder of kept definitions, if any.
        settings: Settings at the start, by the keys of SET.
        variables: Values of ``${name}`` in options.
        secret_values: Values of ``${secret_values.name}`` in options.
        conf: Settings of Spark, ``spark.master`` among them.
        ui_port: The port of the live page; None for no page.
    """

    catalog_store: str | None
    settings: Mapping[str, str]
    variables: Mapping[str, str]
    secret_values: Mapping[str, str]
    conf: Mapping[str, str]
    ui_port: int | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(catalog_store={self.catalog_store!r})"
