"""Options of the connection to a database, for source and sink."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options import option


@dataclass(frozen=True, kw_only=True)
class ConnectionOptions:
    """Options of the connection to a database."""

    url: str = option(
        "url",
        is_hidden=True,
        doc="The JDBC URL of the database: jdbc:postgresql://host/database or jdbc:sqlite:/path/of/file.",
    )
    username: str | None = option("username", default=None, doc="The name of the database user.")
    password: str | None = option("password", default=None, doc="The user's password.")
