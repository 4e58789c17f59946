"""Open the live page, which another package offers."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GROUP = "millrace.ui"


def ui(spark: SparkSession, host: str = "127.0.0.1", port: int = 4050, *, token: str | None = None) -> Any:
    """Open the live page of a session: its queries with lag, rates, durations and errors, and what Prometheus reads.

    Args:
        spark: The session, a classic or a Connect one. The page is served by this process.
        host: The address to listen on. Another one than this machine's own needs a token.
        port: The port; 0 takes a free one.
        token: The token that the page asks for; None for none.

    Returns:
        The page, with ``url`` and ``close()``; a context manager.

    Raises:
        MachineError: The package millrace-ui is not installed.
        OptionsError: The port is taken, or an address of other machines has no token.

    Example::

        page = millrace.ui(spark)
        print(page.url)
    """
    found = next(iter(entry_points(group=_GROUP)), None)
    if found is None:
        raise MachineError(
            "the live page is in a package that is not installed; install it with: pip install millrace-ui"
        )
    return found.load()(spark, host, port, token)
