"""Keep a folder of parquet files in step with a topic, in a driver of its own; the arguments are JSON."""

from __future__ import annotations

import json
import sys

import millrace
from millrace_catalog import KafkaJsonCatalog, ParquetSink, replicate

given = json.loads(sys.argv[1])
# The JVM is started several times, and works for seconds only
quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
spark = millrace.local_session("replicate table", cores=2, config=quick)
query = replicate(
    KafkaJsonCatalog.from_options(given["connection"]).table(given["topic"]),
    ParquetSink(given["path"]),
    spark=spark,
    checkpoint_location=given["checkpoint"],
    options=given["options"],
    trigger={"availableNow": True} if given["ends"] else None,
)
query.await_termination()
print(json.dumps({"columns": str(query.schema), "changes": query.changes[-1].version, "restarts": query.restarts}))
