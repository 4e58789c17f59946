"""Run a pipeline once in a driver that is killed amid or right after a transaction of a database.

Its arguments come as JSON: the pipeline's YAML, the checkpoint, drivers as Maven coordinates, and where it is killed:
``[before, 1]`` at the commit that follows the first one, ``[after, 0]`` right behind the first one.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys

import millrace
from millrace_catalog.sinks.jdbc.database import Connection
from millrace_cdc import Pipeline

given = json.loads(sys.argv[1])
where, number = given["kill"]
commit = Connection.commit
commits = itertools.count()


def commit_and_die(connection: Connection) -> None:
    is_last = next(commits) == number
    if is_last and where == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    commit(connection)
    if is_last:
        os.kill(os.getpid(), signal.SIGKILL)


setattr(Connection, "commit", commit_and_die)  # noqa: B010 (mypy forbids an assignment)
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
session = millrace.local_session("pipeline", cores=2, config={**quick, "spark.jars.packages": given["packages"]})
Pipeline.from_yaml(given["yaml"]).run(session, checkpoint_location=given["checkpoint"], once=True).await_termination()
