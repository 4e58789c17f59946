"""The schema of a query whose columns follow its messages, as JSON: in short, and with all its changes."""

from __future__ import annotations

import dataclasses
from typing import Any

from millrace.contracts.query_schemas import QuerySchema


def schema_in_short(schema: QuerySchema | None) -> dict[str, Any] | None:
    """Return what the page draws after each report; None where the columns follow no messages."""
    if schema is None:
        return None
    return {
        "table": schema.table,
        "version": len(schema.versions),
        "restarts": schema.restarts,
        "isStatic": schema.is_static,
    }


def schema_view(schema: QuerySchema | None) -> dict[str, Any] | None:
    """Return a schema with all its changes, the newest first; None where the columns follow no messages."""
    if schema is None:
        return None
    changes = [dataclasses.asdict(version) for version in reversed(schema.versions)]
    return {**(schema_in_short(schema) or {}), "changes": changes}
