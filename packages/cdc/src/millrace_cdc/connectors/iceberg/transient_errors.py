"""Exceptions of Java and Iceberg after which a micro-batch can be tried again."""

from __future__ import annotations

from typing import Any

_TRANSIENT = {
    "CommitFailedException",
    "CommitStateUnknownException",
    "ConnectException",
    "HttpHostConnectException",
    "NoHttpResponseException",
    "NoRouteToHostException",
    "ServiceFailureException",
    "ServiceUnavailableException",
    "SocketException",
    "SocketTimeoutException",
    "SQLNonTransientConnectionException",
    "SQLTransientConnectionException",
    "UncheckedSQLException",
    "UnknownHostException",
}
"""Exceptions of Java and Iceberg while a catalog or a storage is away."""


def is_transient(java: Any) -> bool:
    """Return whether an exception of Java says that the catalog or the storage is away, or somebody else has written.

    A commit whose outcome is unknown may come again: it looks for the number of its micro-batch first.
    """
    while java is not None:
        if java.getClass().getSimpleName() in _TRANSIENT:
            return True
        java = java.getCause()
    return False
