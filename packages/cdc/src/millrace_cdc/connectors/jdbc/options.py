"""The options of databases as a sink of pipelines, named as Flink's connector jdbc names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt

from millrace.options import option
from millrace.options.secrets import Properties
from millrace_catalog.sinks.jdbc.json_chunks import CHUNK_ROWS
from millrace_cdc.connectors.jdbc.connection_options import ConnectionOptions


@dataclass(frozen=True, kw_only=True)
class JdbcSinkOptions(ConnectionOptions):
    """The options of databases as a sink of pipelines."""

    schema_name: str | None = option(
        "schema-name",
        default=None,
        doc="The schema of all tables. By default, the schema of a table is the part of its id before the name or, "
        "if there is none, the user's first schema.",
    )
    batch_rows: Annotated[int, Gt(0)] = option(
        "sink.buffer-flush.max-rows", default=CHUNK_ROWS, doc="The number of rows that a statement writes at a time."
    )
    properties: tuple[tuple[str, str], ...] = option(
        "properties.*", default=(), is_hidden=True, doc="Any property of the driver."
    )

    def driver_properties(self) -> Properties:
        """Return the properties of the driver."""
        login = {"user": self.username, "password": self.password}
        return Properties({**dict(self.properties), **{name: text for name, text in login.items() if text is not None}})
