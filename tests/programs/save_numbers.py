"""Save the numbers of a topic in files, in a driver of its own; the arguments are options and folders, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

given = json.loads(sys.argv[1])
# The JVM is started several times, and works for seconds only
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
query = (
    millrace.local_session("save numbers", cores=2, config=quick)
    .readStream.format("millrace")
    .options(**given["options"])
    .schema("value BINARY")
    .load()
    .selectExpr("CAST(STRING(value) AS BIGINT) AS number")
    .writeStream.format("parquet")
    .options(path=given["files"], checkpointLocation=given["checkpoint"])
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
