"""The package's hook: names and import strings of its state backends."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_state_backends() -> Mapping[str, str]:
    """Return the names to give as ``state.backend``."""
    return {"lmdb": "millrace_state.lmdb_backend:LmdbBackend"}
