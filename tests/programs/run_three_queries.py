"""Run an exactly-once copy, a statement of SQL over an upsert table and a pipeline in one driver; arguments as JSON.

They run until the process is killed or, where ``once`` says so, to the end of their topics.
"""

from __future__ import annotations

import json
import sys

import millrace
from millrace_cdc import Pipeline
from millrace_sql import TableEnvironment

given = json.loads(sys.argv[1])
config = {
    # The JVM is started twice, and works for seconds only
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Tasks are killed, and meet a broker that is away
    "spark.master": "local[2,100]",
    "spark.sql.shuffle.partitions": "2",
}
spark = millrace.local_session("three queries", cores=2, config=config)

rows = spark.readStream.format("millrace").options(**given["copy"]["read"]).load().select("key", "value")
writer = rows.writeStream.format("millrace").options(**given["copy"]["write"])
copy = (writer.trigger(availableNow=True) if given["once"] else writer).start()

inserts = list(TableEnvironment(spark).execute_script(given["sql"]))

pipeline = Pipeline.from_yaml(given["pipeline"]["yaml"]).run(
    spark,
    checkpoint_location=given["pipeline"]["checkpoint"],
    once=given["once"],
    interval=None if given["once"] else "100 milliseconds",
)

if not given["once"]:
    # The first that fails ends the process
    spark.streams.awaitAnyTermination()
copy.awaitTermination()
for insert in inserts:
    insert.wait()
pipeline.await_termination()
