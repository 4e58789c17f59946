"""Copy a topic with asynchronous progress tracking until killed; the argument is options, as JSON."""

from __future__ import annotations

import json
import sys

import millrace

given = json.loads(sys.argv[1])
spark = millrace.local_session("asynchronous progress", cores=2)
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
