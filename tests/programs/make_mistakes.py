"""Make mistakes in a session, and let all that a terminal shows go to standard error, after a mark for each
attempt.

Arguments: the kind of session; addresses of the broker; a folder; names of mistakes. Kinds of sessions: ``local``, of
`local_session`; ``plain``, with Spark's own settings; ``shortened``, the same after `install_short_tracebacks`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from millrace import install_short_tracebacks, local_session
from support.mistakes import Mistake, Playground
from support.mistakes.all import ALL

MARK = "\x1e"

ATTEMPTS = 5
NO_WORKER = "Python worker failed to connect back"
"""A failure of Spark, which waits 10 s for a worker that a busy machine starts later."""


def plain_session() -> SparkSession:
    """A session as a program makes it that knows nothing of `local_session`, with Spark's own settings."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()


def main(kind: str, servers: str, folder: str, *names: str) -> None:
    """Make the mistakes."""
    spark = local_session(cores=2) if kind == "local" else plain_session()
    if kind == "shortened":
        install_short_tracebacks()
    for number, mistake in enumerate(mistake for mistake in ALL if mistake.name in names):
        for attempt in range(ATTEMPTS):
            place = Playground(spark, servers, Path(folder) / f"{kind}-{number}-{attempt}")
            failure = _make(mistake, place)
            if NO_WORKER not in str(failure):
                break
    spark.stop()


def _make(mistake: Mistake, place: Playground) -> Exception | None:
    """Make a mistake, and return the exception that it has ended in."""
    failure = None
    print(f"{MARK}{mistake.name}", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        mistake.make(place)
    except Exception as error:
        failure = error
        sys.excepthook(*sys.exc_info())
    print(f"{MARK}{time.monotonic() - started:.1f}", file=sys.stderr, flush=True)
    return failure


if __name__ == "__main__":
    main(*sys.argv[1:])
