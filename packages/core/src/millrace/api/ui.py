"""Open the live page, which another package offers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GROUP = "millrace.ui"

DEFAULT_PORT = 4050
"""The port of the page where none is given."""


def ui(
    spark: SparkSession,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    token: str | None = None,
    kafka: Mapping[str, str] | None = None,
    payloads: bool = True,
    stalled_after_s: float = 300.0,
) -> Any:
    """Open the live page of a session: its queries, its pipelines and SQL jobs, topics, and what Prometheus reads.

    Args:
        spark: The session, a classic or a Connect one. The page is served by this process.
        host: The address to listen on. Another one than this machine's own needs a token.
        port: The port; 0 takes a free one.
        token: The token that the page asks for; None for none.
        kafka: Kafka's client properties, such as ``bootstrap.servers``, with which the page looks at topics. Without
            them it looks at those of the pipelines and SQL jobs that run in this process.
        payloads: Whether the page shows keys and values of messages.
        stalled_after_s: The seconds without progress after which ``/healthz`` reports a query that has something to
            read. Longer than the interval of its trigger.

    Returns:
        The page, with ``url`` and ``close()``; a context manager.

    Raises:
        MachineError: The package millrace-ui is not installed.
        OptionsError: The port is taken, or an address of other machines has no token.

    Example::

        page = millrace.ui(spark)
        print(page.url)
    """
    return require_page().load()(spark, host, port, token, kafka, payloads, stalled_after_s)


def require_page() -> EntryPoint:
    """Return the entry point that opens the page.

    Raises:
        MachineError: The package millrace-ui is not installed.
    """
    opener = find_page()
    if opener is None:
        raise MachineError(
            "the live page is in a package that is not installed; install it with: pip install millrace-ui"
        )
    return opener


def find_page() -> EntryPoint | None:
    """Return the entry point that opens the page; None where the package millrace-ui is not installed."""
    return next(iter(entry_points(group=_GROUP)), None)
