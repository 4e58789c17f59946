"""Copy a topic exactly once, in a driver of its own; the arguments are options, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

given = json.loads(sys.argv[1])
# The JVM is started several times, and works for seconds only
config = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", **given.get("config", {})}
spark = millrace.local_session("copy once", cores=given.get("cores", 2), config=config)
spark.sparkContext.addPyFile(given["kill_points"])
rows = spark.readStream.format("millrace").options(**given["read"]).load().select("key", "value")
if "tasks" in given:
    rows = rows.repartition(given["tasks"], "value")
query = rows.writeStream.format("millrace").options(**given["write"]).trigger(availableNow=True).start()
print(query.id, flush=True)
query.awaitTermination()
