"""Copy a topic with asynchronous progress tracking until killed; the argument is options, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

given = json.loads(sys.argv[1])
# The JVM is started several times, and works for seconds only
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
spark = millrace.local_session("asynchronous progress", cores=2, config=quick)
rows = spark.readStream.format("millrace").options(**given["read"]).load().select("key", "value")
query = (
    rows.writeStream.format("millrace")
    .options(**given["write"])
    .option("asyncProgressTrackingEnabled", "true")
    .option("asyncProgressTrackingCheckpointIntervalMs", given["interval_ms"])
    .option("_asyncProgressTrackingOverrideSinkSupportCheck", "true")
    .start()
)
query.awaitTermination()
