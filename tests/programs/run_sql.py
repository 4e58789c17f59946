"""Run a script of SQL in a driver of its own until its streams have ended; the argument is the script."""

from __future__ import annotations

import sys

import millrace
from millrace_sql import TableEnvironment

config = {
    # The JVM is started several times, and works for seconds only
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Tasks are killed again and again
    "spark.master": "local[2,100]",
    "spark.sql.shuffle.partitions": "2",
}
environment = TableEnvironment(millrace.local_session("run SQL", cores=2, config=config))
for result in environment.execute_script(sys.argv[1]):
    result.wait()
