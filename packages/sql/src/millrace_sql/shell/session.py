"""The Spark session and the table environment of a shell or a script."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from millrace.api.session import local_session

if TYPE_CHECKING:
    from millrace_sql.environment import TableEnvironment


@contextmanager
def environment_for(
    catalog_store: str | None,
    settings: Mapping[str, str],
    variables: Mapping[str, str],
    conf: Mapping[str, str],
    *,
    dry_run: bool = False,
) -> Iterator[TableEnvironment]:
    """Start Spark, and stop it at the end.

    Args:
        catalog_store: The folder of kept definitions, if any.
        settings: Settings at the start, by the keys of SET.
        variables: Values of ``${name}`` in options.
        conf: Settings of Spark, ``spark.master`` among them.
        dry_run: Whether kept definitions are only read.

    Raises:
        MillraceError: A setting is wrong, or kept definitions cannot be read.
    """
    from millrace_sql.environment import TableEnvironment

    spark = local_session("millrace sql", config=conf)
    # Spark's own handler cancels the jobs of all queries, also of those that go on behind the one that Ctrl-C ends
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield TableEnvironment(
            spark, catalog_store=catalog_store, config=settings, variables=variables, dry_run=dry_run
        )
    finally:
        for query in spark.streams.active:
            query.stop()
        spark.stop()
